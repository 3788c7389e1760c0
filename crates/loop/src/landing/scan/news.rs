//! Which commits a push would send: those that no branch of the server leads to, whoever made them.

use std::collections::HashMap;

use pleach_git::git::read::text;
use pleach_git::git::{CommitId, GitError, Store, parse_id};

#[derive(Debug)]
pub(crate) struct NewCommits {
    /// The commits with their parents, the oldest first.
    pub(crate) commits: Vec<(CommitId, Vec<CommitId>)>,
    /// The commits of the server that they were made on; the one that the last was made on comes first.
    pub(crate) made_on: Vec<CommitId>,
}

impl NewCommits {
    /// The commits up to `tip` that none of those that are there leads to; what is not known here is passed over.
    pub(crate) fn find(
        store: &Store,
        there: &[CommitId],
        tip: &CommitId,
    ) -> Result<Self, GitError> {
        let list = ["rev-list", "--topo-order", "--reverse", "--parents"];
        let list = store.call().args(list);
        let list = list.args(["--boundary", "--ignore-missing", "--stdin"]);
        let there = there.iter().map(|commit| format!("^{commit}\n"));
        let asked: String = [format!("{tip}\n")].into_iter().chain(there).collect();
        let printed = text(&list.stdin(asked).output()?);
        let (mut commits, mut made_on) = (Vec::new(), Vec::new());
        for line in printed.lines() {
            let parse = |id: &str| parse_id("rev-list", id.as_bytes());
            if let Some(line) = line.strip_prefix('-') {
                made_on.push(parse(line.split(' ').next().unwrap_or(line))?);
                continue;
            }
            let ids: Vec<CommitId> = line.split(' ').map(parse).collect::<Result<_, _>>()?;
            if let [commit, parents @ ..] = &ids[..] {
                commits.push((commit.clone(), parents.to_vec()));
            }
        }
        let mut news = Self { commits, made_on };
        news.put_base_first(tip);
        Ok(news)
    }

    fn put_base_first(&mut self, tip: &CommitId) {
        let parents: HashMap<_, _> = self.commits.iter().map(|(id, from)| (id, from)).collect();
        let mut base = tip;
        while let Some(first) = parents.get(base).and_then(|from| from.first()) {
            base = first;
        }
        if let Some(place) = self.made_on.iter().position(|commit| commit == base) {
            self.made_on.swap(0, place);
        }
    }
}
