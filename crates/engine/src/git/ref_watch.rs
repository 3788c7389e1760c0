//! Notices refs of the store that agents moved past the guard, and puts them back.
//!
//! Knows nothing of who moved them; a commit that was found at a wrong place is kept.

use std::collections::BTreeMap;
use std::fmt;

use super::{CommitId, GitError, Store, StoreError, nul_separated, ref_segment};

/// Pleach's own refs, which come and go; only kept work has to stay.
const OURS: &str = "refs/pleach/";
const KEPT: &str = "refs/pleach/keep/";

/// The refs of a store at one moment, but for some.
#[derive(Debug, Clone)]
pub struct RefsSnapshot {
    refs: BTreeMap<String, Place>,
    except: Vec<String>,
}

/// What a ref leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    object: String,
    /// The other ref that it leads to, or nothing.
    link: String,
}

/// A ref that was not where it had been.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedRef {
    /// Its full name.
    pub name: String,
    /// What happened to it.
    pub how: Moved,
    /// Whether it is as before again.
    pub is_restored: bool,
}

/// What can happen to a ref.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moved {
    /// It was not there before.
    Appeared,
    /// It was gone.
    Disappeared,
    /// It led elsewhere.
    Changed,
}

impl fmt::Display for MovedRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match self.how {
            Moved::Appeared => "made",
            Moved::Disappeared => "deleted",
            Moved::Changed => "moved",
        };
        let now = if self.is_restored {
            "it is as before again"
        } else {
            "it could not be put back"
        };
        write!(
            f,
            "an agent {how} {}, which is not its own; {now}",
            self.name
        )
    }
}

impl Store {
    /// Notes where refs are, but for those whose names begin with one of `except`.
    pub fn refs_snapshot(&self, except: &[&str]) -> Result<RefsSnapshot, GitError> {
        let except: Vec<String> = except.iter().map(|start| (*start).to_owned()).collect();
        let refs = self.watched_refs(&except)?;
        Ok(RefsSnapshot { refs, except })
    }

    /// Puts refs back where they were, unless they move meanwhile; tells which had moved.
    pub fn restore_refs(&self, before: &RefsSnapshot) -> Result<Vec<MovedRef>, StoreError> {
        let now = self.watched_refs(&before.except)?;
        let mut moved = Vec::new();
        let names: Vec<&String> = before.refs.keys().chain(now.keys()).collect();
        for (position, name) in names.iter().enumerate() {
            let (was, is) = (before.refs.get(*name), now.get(*name));
            let how = match (was, is) {
                (Some(was), Some(is)) if was == is => continue,
                // It was seen among the earlier ones.
                (Some(_), Some(_)) if position >= before.refs.len() => continue,
                (Some(_), Some(_)) => Moved::Changed,
                (Some(_), None) => Moved::Disappeared,
                (None, _) if name.starts_with(OURS) => continue,
                (None, _) => Moved::Appeared,
            };
            moved.push(MovedRef {
                name: (*name).clone(),
                how,
                is_restored: self.restore(name, was, is)?,
            });
        }
        Ok(moved)
    }

    fn restore(
        &self,
        name: &str,
        was: Option<&Place>,
        is: Option<&Place>,
    ) -> Result<bool, StoreError> {
        let mut object = is.map(|is| is.object.as_str());
        if let Some(commit) = is.and_then(|is| self.ref_commit(&is.object).ok().flatten()) {
            self.keep_moved(&commit, name)?;
        }
        if is.is_some_and(|is| !is.link.is_empty()) {
            let delete = ["symbolic-ref", "--delete", name];
            self.call().args(delete).run()?;
            object = None;
        }
        let zero = |like: &str| "0".repeat(like.len());
        let call = self.call().args(["update-ref", "--no-deref"]);
        let call = match (was, object) {
            (Some(was), is) => {
                let is = is.map_or_else(|| zero(&was.object), str::to_owned);
                call.args([name, &was.object, &is])
            }
            (None, Some(is)) => call.args(["-d", name, is]),
            (None, None) => return Ok(true),
        };
        Ok(call.run()?.code == 0)
    }

    fn keep_moved(&self, commit: &CommitId, name: &str) -> Result<String, StoreError> {
        self.keep(commit, &format!("moved/{}", ref_segment(name)))
    }

    fn watched_refs(&self, except: &[String]) -> Result<BTreeMap<String, Place>, GitError> {
        let list = [
            "for-each-ref",
            "--format=%(objectname) %(refname) %(symref)%00",
        ];
        let printed = self.call().args(list).output()?;
        let mut refs = BTreeMap::new();
        for record in nul_separated(&printed) {
            let record = String::from_utf8_lossy(record);
            let mut fields = record.trim_start_matches('\n').splitn(3, ' ');
            let (Some(object), Some(name)) = (fields.next(), fields.next()) else {
                continue;
            };
            let is_ours = name.starts_with(OURS) && !name.starts_with(KEPT);
            if is_ours || except.iter().any(|start| name.starts_with(start.as_str())) {
                continue;
            }
            let place = Place {
                object: object.to_owned(),
                link: fields.next().unwrap_or_default().to_owned(),
            };
            refs.insert(name.to_owned(), place);
        }
        Ok(refs)
    }
}
