//! Looks at what a push would send away, and names what had better stay: secrets, huge files, links that lead out.
//!
//! Reads every new version of every file between two commits, also those that a later commit took away again, and
//! what the commits say. Decides nothing.

mod finding;
mod news;

use std::collections::HashSet;

use pleach_git::git::read::text;
use pleach_git::git::{CommitId, GitError, Identity, Store};
use pleach_system::secrets::{Hider, hits};

use pleach_git::weave::WeaveError;
use pleach_git::weave::reading::{ChangedPath, ObjectId, Reading, TreeItem, TreeItemKind};

pub use finding::{Finding, FindingKind, FindingPlace};
pub(crate) use news::NewCommits;

/// A file that is larger than this does not belong into a repository.
pub const LARGE: u64 = 5_000_000;

/// Longer files are not searched; each of them was as long before, or is named for that.
const LONGEST_SEARCHED: u64 = 16_000_000;

/// So many commits of the base are asked what their authors are called and what they say.
const MOST_COMMITS: &str = "--max-count=2000";

/// Nobody reads more.
const MOST_FINDINGS: usize = 1_000;

#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    #[error("could not read the commits to push")]
    Read(#[from] WeaveError),
    #[error(transparent)]
    Git(#[from] GitError),
}

/// Names what the commits up to `tip` hold that had better not be pushed, and that the server does not have: `there`
/// is what its branches are at. Values that `hider` knows are secrets too.
pub fn scan(
    store: &Store,
    there: &[CommitId],
    tip: &CommitId,
    hider: &Hider,
) -> Result<Vec<Finding>, ScanError> {
    let news = NewCommits::find(store, there, tip)?;
    let reading = Reading::open(store)?;
    let known = news.made_on.iter().map(|commit| reading.tree_of(commit));
    let known = known.collect::<Result<Vec<_>, _>>()?;
    let mut before = Vec::new();
    let mut changes = reading.changes(known.first().copied(), reading.tree_of(tip)?)?;
    let mut is_new_at = Vec::new();
    for change in &changes {
        before.extend(change.old);
        let mut is_new = true;
        for tree in known.iter().skip(1) {
            let item = reading.item_at(*tree, &change.path)?;
            is_new &= item.map(|item| item.id) != change.new.map(|new| new.id);
            before.extend(item);
        }
        is_new_at.push(is_new);
    }
    let went = went(&changes);
    let mut is_new_at = is_new_at.into_iter();
    changes.retain(|_| is_new_at.next().unwrap_or(true));
    let mut scan = Scan {
        store,
        base: news.made_on.first(),
        hider,
        reading,
        known,
        before,
        old_secrets: None,
        old_words: None,
        searched: HashSet::new(),
        told: HashSet::new(),
        findings: Vec::new(),
    };
    if !news.commits.is_empty() {
        for change in &changes {
            scan.look_at_name(change, None)?;
            scan.look_at(change, &went, None)?;
            scan.look_at_links(change, &went)?;
        }
    }
    scan.look_at_history(&news, tip)?;
    Ok(scan.findings)
}

/// What was at the paths that changed, and may only have moved to another one.
fn went(changes: &[ChangedPath]) -> HashSet<ObjectId> {
    let old = changes.iter().filter_map(|change| change.old);
    old.map(|old| old.id).collect()
}

struct Hit<'c> {
    kind: FindingKind,
    place: usize,
    bytes: &'c [u8],
}

struct Scan<'s> {
    store: &'s Store,
    /// The commit of the server that the last one was made on, if there is one.
    base: Option<&'s CommitId>,
    hider: &'s Hider,
    reading: Reading,
    /// The trees of the commits of the server that the new ones were made on.
    known: Vec<ObjectId>,
    /// What they had at the paths that changed.
    before: Vec<TreeItem>,
    /// The secrets that were in there; looked for when a secret is found.
    old_secrets: Option<HashSet<Vec<u8>>>,
    /// What its commits say, and who made them; read when a known value is found.
    old_words: Option<Vec<u8>>,
    /// Contents that need no second look.
    searched: HashSet<ObjectId>,
    /// Secrets that were named.
    told: HashSet<Vec<u8>>,
    findings: Vec<Finding>,
}

impl Scan<'_> {
    /// Commits that the last one hides: what they hold is pushed as well.
    fn look_at_history(&mut self, news: &NewCommits, tip: &CommitId) -> Result<(), ScanError> {
        for (commit, parents) in &news.commits {
            self.look_at_words(commit)?;
            if commit != tip {
                self.look_at_commit(commit, parents)?;
            }
        }
        Ok(())
    }

    /// What a commit says besides its files, whatever an agent wrote into it.
    fn look_at_words(&mut self, commit: &CommitId) -> Result<(), ScanError> {
        let words = self.reading.words_of(commit)?;
        let head = words.windows(2).position(|two| two == b"\n\n");
        let head = head.unwrap_or(words.len());
        for hit in self.secrets_in(&words) {
            let begin = words[..hit.place].iter().rposition(|byte| *byte == b'\n');
            let line = &words[begin.map_or(0, |at| at + 1)..];
            let within = match line {
                _ if hit.place > head => FindingPlace::Message,
                line if line.starts_with(b"author ") => FindingPlace::Author,
                line if line.starts_with(b"committer ") => FindingPlace::Committer,
                _ => FindingPlace::Header,
            };
            if self.is_news(&hit)? {
                self.tell(Finding {
                    path: format!("commit {:.10}", commit.as_str()),
                    line: None,
                    kind: hit.kind,
                    within: Some(within),
                    earlier: None,
                });
            }
        }
        Ok(())
    }

    fn look_at_name(
        &mut self,
        change: &ChangedPath,
        earlier: Option<&CommitId>,
    ) -> Result<(), ScanError> {
        if change.old.is_some() || change.new.is_none() {
            return Ok(());
        }
        for hit in self.secrets_in(&change.path) {
            let mut known = self.known.iter();
            let was_there = known.try_fold(false, |was_there, tree| {
                let there = self.reading.item_at(*tree, &change.path)?;
                Ok::<_, WeaveError>(was_there || there.is_some())
            })?;
            if !was_there && self.is_news(&hit)? {
                self.tell(Finding {
                    path: text(&change.path),
                    line: None,
                    kind: hit.kind,
                    within: Some(FindingPlace::Name),
                    earlier: earlier.cloned(),
                });
            }
        }
        Ok(())
    }

    /// The secrets of some bytes: what looks like one, and what is known to be one.
    fn secrets_in<'c>(&self, bytes: &'c [u8]) -> Vec<Hit<'c>> {
        let by_shape = hits(bytes).map(|hit| Hit {
            kind: FindingKind::Secret {
                name: hit.name,
                begin: hit.begin(),
            },
            place: hit.place,
            bytes: hit.bytes,
        });
        let known = self.hider.known_in(bytes).map(|(name, range)| Hit {
            kind: FindingKind::Known {
                name: name.to_owned(),
            },
            place: range.start,
            bytes: &bytes[range],
        });
        by_shape.chain(known).collect()
    }

    /// Whether a secret is neither told already nor in the base.
    fn is_news(&mut self, hit: &Hit<'_>) -> Result<bool, ScanError> {
        if self.told.contains(hit.bytes) || self.secrets_in_base()?.contains(hit.bytes) {
            return Ok(false);
        }
        self.told.insert(hit.bytes.to_vec());
        // What somebody calls a secret may be a word that the project is full of.
        let is_known = matches!(hit.kind, FindingKind::Known { .. });
        let is_public = is_known
            && (self.is_in_identity(hit.bytes)
                || self.is_in_base(hit.bytes)?
                || self.is_in_words_of_base(hit.bytes)?);
        Ok(!is_public)
    }

    /// Whether the user signs commits with a value: one such as `ADMIN_EMAIL` would stop every push.
    fn is_in_identity(&self, value: &[u8]) -> bool {
        let Identity { name, email } = self.store.identity();
        is_within(value, format!("{name} <{email}>").as_bytes())
    }

    /// Whether commits of the base say a value, or are by somebody of that name.
    fn is_in_words_of_base(&mut self, value: &[u8]) -> Result<bool, ScanError> {
        if self.old_words.is_none() {
            let log = ["log", MOST_COMMITS, "--format=%an <%ae>%n%cn <%ce>%n%B"];
            self.old_words = Some(match self.base {
                Some(base) => self.store.call().args(log).arg(base.as_str()).output()?,
                None => Vec::new(),
            });
        }
        Ok(is_within(value, self.old_words.get_or_insert_default()))
    }

    fn is_in_base(&self, value: &[u8]) -> Result<bool, ScanError> {
        let Some(base) = self.base else {
            return Ok(false);
        };
        // By standard input, for others see the words of a command.
        let grep = ["grep", "--quiet", "--text", "--fixed-strings", "-f", "-"];
        let grep = self.store.call().args(grep).arg(base.as_str());
        Ok(grep.stdin(value).run()?.code == 0)
    }

    fn look_at_commit(&mut self, commit: &CommitId, parents: &[CommitId]) -> Result<(), ScanError> {
        let mut trees = Vec::new();
        for parent in parents {
            trees.push(self.reading.tree_of(parent)?);
        }
        let tree = self.reading.tree_of(commit)?;
        let changes = self.reading.changes(trees.first().copied(), tree)?;
        let went = went(&changes);
        for change in &changes {
            self.look_at_name(change, Some(commit))?;
            let Some(new) = change.new.filter(|new| !self.searched.contains(&new.id)) else {
                continue;
            };
            // A merge brings what another parent has, and a revert what the base has.
            let others = trees.iter().skip(1).chain(&self.known);
            let mut others = others.copied();
            let is_known = others.try_fold(false, |is_known, tree| {
                let there = self.reading.item_at(tree, &change.path)?;
                Ok::<_, WeaveError>(is_known || there.is_some_and(|there| there.id == new.id))
            })?;
            if !is_known {
                self.look_at(change, &went, Some(commit))?;
            }
        }
        Ok(())
    }

    /// Looks at a file or a link that is new or another one.
    fn look_at(
        &mut self,
        change: &ChangedPath,
        went: &HashSet<ObjectId>,
        earlier: Option<&CommitId>,
    ) -> Result<(), ScanError> {
        let has_content = |item: &TreeItem| item.kind != TreeItemKind::Submodule;
        let Some(new) = change.new.filter(has_content) else {
            return Ok(());
        };
        if went.contains(&new.id) {
            return Ok(());
        }
        let is_file = new.kind == TreeItemKind::File;
        if is_file && change.old.is_none() && is_env_file(&change.path) {
            self.find(change, None, FindingKind::EnvFile, earlier);
        }
        if !self.searched.insert(new.id) {
            return Ok(());
        }
        let old = change.old.filter(has_content);
        let size = self.reading.size(new.id)?;
        if size > LARGE {
            let old_size = old.map(|old| self.reading.size(old.id)).transpose()?;
            // One that grew too long to be searched is named as well.
            let bound = if size > LONGEST_SEARCHED {
                LONGEST_SEARCHED
            } else {
                LARGE
            };
            if old_size.is_none_or(|old| old <= bound) {
                self.find(change, None, FindingKind::Large { bytes: size }, earlier);
            }
        }
        if size <= LONGEST_SEARCHED {
            self.search(change, new, old, earlier)?;
        }
        Ok(())
    }

    fn search(
        &mut self,
        change: &ChangedPath,
        new: TreeItem,
        old: Option<TreeItem>,
        earlier: Option<&CommitId>,
    ) -> Result<(), ScanError> {
        let content = self.reading.content(new.id)?;
        let hits = self.secrets_in(&content);
        if hits.is_empty() {
            return Ok(());
        }
        let before = match old {
            Some(old) => self.secrets_of(old)?,
            None => Vec::new(),
        };
        let is_text = !content[..content.len().min(8_000)].contains(&0);
        let is_text = is_text && new.kind == TreeItemKind::File;
        for hit in hits {
            let was_there = before.iter().any(|old| old == hit.bytes);
            if was_there || !self.is_news(&hit)? {
                continue;
            }
            let line = is_text.then(|| line_of(&content, hit.place));
            self.find(change, line, hit.kind, earlier);
        }
        Ok(())
    }

    fn secrets_in_base(&mut self) -> Result<&HashSet<Vec<u8>>, ScanError> {
        if self.old_secrets.is_none() {
            let mut found = HashSet::new();
            for old in &self.before {
                found.extend(self.secrets_of(*old)?);
            }
            self.old_secrets = Some(found);
        }
        Ok(self.old_secrets.get_or_insert_default())
    }

    fn secrets_of(&self, item: TreeItem) -> Result<Vec<Vec<u8>>, ScanError> {
        let is_submodule = item.kind == TreeItemKind::Submodule;
        if is_submodule || self.reading.size(item.id)? > LONGEST_SEARCHED {
            return Ok(Vec::new());
        }
        let content = self.reading.content(item.id)?;
        let found = self.secrets_in(&content).into_iter();
        Ok(found.map(|hit| hit.bytes.to_vec()).collect())
    }

    /// Looks at what is no file: where it leads counts in the last commit only.
    fn look_at_links(
        &mut self,
        change: &ChangedPath,
        went: &HashSet<ObjectId>,
    ) -> Result<(), ScanError> {
        let Some(new) = change.new else {
            return Ok(());
        };
        match new.kind {
            TreeItemKind::File => {}
            TreeItemKind::Link => {
                let target = self.reading.content(new.id)?;
                if leads_outside(&change.path, &target) {
                    let target = self.hider.hidden(text(&target));
                    self.find(change, None, FindingKind::LinkOutside { target }, None);
                }
            }
            TreeItemKind::Submodule => {
                let was_one = |old: &TreeItem| old.kind == TreeItemKind::Submodule;
                if !went.contains(&new.id) && !change.old.as_ref().is_some_and(was_one) {
                    self.find(change, None, FindingKind::Submodule, None);
                }
            }
        }
        Ok(())
    }

    fn find(
        &mut self,
        change: &ChangedPath,
        line: Option<u32>,
        kind: FindingKind,
        earlier: Option<&CommitId>,
    ) {
        self.tell(Finding {
            path: text(&change.path),
            line,
            kind,
            within: None,
            earlier: earlier.cloned(),
        });
    }

    fn tell(&mut self, mut finding: Finding) {
        if self.findings.len() < MOST_FINDINGS {
            finding.path = self.hider.hidden(finding.path);
            self.findings.push(finding);
        }
    }
}

fn is_within(value: &[u8], bytes: &[u8]) -> bool {
    bytes
        .windows(value.len().max(1))
        .any(|window| window == value)
}

fn line_of(content: &[u8], place: usize) -> u32 {
    let breaks = content[..place].iter().filter(|byte| **byte == b'\n');
    u32::try_from(breaks.count())
        .unwrap_or(u32::MAX)
        .saturating_add(1)
}

/// Whether a file holds settings of one machine, and not those that are an example for all.
fn is_env_file(path: &[u8]) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    let name = name.to_ascii_lowercase();
    match name.strip_prefix(b".env") {
        Some([]) => true,
        Some([b'.', rest @ ..]) => {
            let is_example =
                |word: &[u8]| [&b"example"[..], b"sample", b"template", b"dist"].contains(&word);
            !rest.split(|byte| *byte == b'.').any(is_example)
        }
        _ => false,
    }
}

/// Whether a link at a path leads out of the tree, or into git's own folder.
fn leads_outside(path: &[u8], target: &[u8]) -> bool {
    let mut depth = path.split(|byte| *byte == b'/').count() - 1;
    for part in target.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." if depth == 0 => return true,
            b".." => depth -= 1,
            name if name.eq_ignore_ascii_case(b".git") => return true,
            _ => depth += 1,
        }
    }
    target.starts_with(b"/")
}
