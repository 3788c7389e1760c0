//! Reads and creates refs, always by compare-and-swap and never by force.
//!
//! Knows nothing of why a ref is wanted.

use super::{CallPlace, CommitId, GitError, Store, StoreError, nul_separated, parse_id};

/// More names than anybody needs; a limit against going on for ever.
const MOST_NAMES: usize = 10_000;

/// So many free names are tried that git does not take.
const MOST_REFUSALS: u32 = 3;

impl Store {
    /// Keeps a commit for good under `refs/pleach/keep/`, beside what is kept there already.
    pub fn keep(&self, commit: &CommitId, name: &str) -> Result<String, StoreError> {
        let git_dir = self.git_dir();
        let wanted = format!("refs/pleach/keep/{name}");
        self.claim(CallPlace::Ours(&git_dir), &wanted, commit, &[])
    }

    /// Keeps several commits in the same way, however many there are.
    pub(crate) fn keep_all(&self, commits: &[CommitId], name: &str) -> Result<(), StoreError> {
        let wanted = format!("refs/pleach/keep/{name}");
        let numbered = format!("{wanted}-*");
        let list = ["for-each-ref", "--format=%(objectname)%00%(refname)%00"];
        let list = self.call().args(list).args([&wanted, &numbered]);
        let printed = list.output()?;
        let taken: Vec<&[u8]> = nul_separated(&printed).map(<[u8]>::trim_ascii).collect();
        let is_free = |field: &str| !taken.contains(&field.as_bytes());
        let numbered = (2..).map(|number| format!("{wanted}-{number}"));
        let names = std::iter::once(wanted.clone()).chain(numbered);
        let new = commits.iter().filter(|commit| is_free(commit.as_str()));
        let free = names.filter(|name| is_free(name));
        let lines: Vec<String> = free
            .zip(new)
            .map(|(name, commit)| format!("create {name} {commit}\n"))
            .collect();
        let update = self.call().args(["update-ref", "--no-deref", "--stdin"]);
        if lines.is_empty() || update.stdin(lines.concat()).run()?.code == 0 {
            return Ok(());
        }
        // Somebody took one of the names meanwhile, or left a lock on it.
        let mut commits = commits.iter();
        commits.try_for_each(|commit| self.keep(commit, name).map(drop))
    }

    pub fn ref_commit(&self, name: &str) -> Result<Option<CommitId>, GitError> {
        let object = format!("{name}^{{commit}}");
        let verify = [
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &object,
        ];
        let found = self.call().args(verify).run()?;
        match found.code {
            0 => parse_id("rev-parse", &found.stdout).map(Some),
            _ => Ok(None),
        }
    }

    /// Points a ref of the store at a commit if it still is where it was seen.
    pub fn swap_ref(
        &self,
        name: &str,
        new: &CommitId,
        seen: Option<&CommitId>,
    ) -> Result<(), GitError> {
        let old = seen.map_or_else(|| new.zero(), CommitId::to_string);
        let update = ["update-ref", "--no-deref", name, new.as_str(), &old];
        self.call().args(update).output().map(drop)
    }

    /// Removes a ref of the store if it still is where it was seen.
    pub fn drop_ref(&self, name: &str, seen: &CommitId) -> Result<(), GitError> {
        let delete = ["update-ref", "--no-deref", "-d", name, seen.as_str()];
        self.call().args(delete).output().map(drop)
    }

    /// Creates a ref at a commit, under the first free one of `name`, `name-2`, `name-3` …
    pub(super) fn claim(
        &self,
        place: CallPlace<'_>,
        wanted: &str,
        commit: &CommitId,
        blocked: &[String],
    ) -> Result<String, StoreError> {
        let (mut failure, mut refused) = (None, 0);
        for number in 1..MOST_NAMES {
            let name = match number {
                1 => wanted.to_owned(),
                _ => format!("{wanted}-{number}"),
            };
            match self.occupant(place, &name)? {
                Occupant::Commit(there) if there == commit.as_str() => return Ok(name),
                Occupant::Nobody if blocked.contains(&name) => continue,
                Occupant::Nobody => {}
                Occupant::Commit(_) | Occupant::Folder => continue,
            }
            let update = [
                "update-ref",
                "--no-deref",
                &name,
                commit.as_str(),
                &commit.zero(),
            ];
            let made = self.in_place(place).args(update).run()?;
            if made.code == 0 {
                return Ok(name);
            }
            failure = Some(made.failure());
            // Somebody else may have been quicker, or was killed and left a lock on that name;
            // otherwise another name would not help either.
            if matches!(self.occupant(place, &name)?, Occupant::Nobody) {
                refused += 1;
                if refused == MOST_REFUSALS {
                    break;
                }
            }
        }
        let none = || GitError::Garbled {
            what: "update-ref".into(),
            printed: format!("no free name like {wanted}"),
        };
        Err(failure.unwrap_or_else(none).into())
    }

    fn in_place(&self, place: CallPlace<'_>) -> super::Call {
        match place {
            CallPlace::Ours(_) => self.call(),
            CallPlace::Users(_) | CallPlace::Nowhere(_) => match self.checkout() {
                Ok(checkout) => self.signed(checkout.writing_call(&self.git)),
                Err(_) => self.signed(self.git.call(place)),
            },
        }
    }

    fn occupant(&self, place: CallPlace<'_>, name: &str) -> Result<Occupant, GitError> {
        let list = [
            "for-each-ref",
            "--format=%(objectname)%00%(refname)%00",
            name,
        ];
        let printed = self.in_place(place).args(list).output()?;
        let mut fields = nul_separated(&printed);
        let (Some(id), Some(found)) = (fields.next(), fields.next()) else {
            return Ok(Occupant::Nobody);
        };
        Ok(if found == name.as_bytes() {
            Occupant::Commit(String::from_utf8_lossy(id).into_owned())
        } else {
            Occupant::Folder
        })
    }
}

enum Occupant {
    Nobody,
    Commit(String),
    /// Other refs whose names begin with it.
    Folder,
}
