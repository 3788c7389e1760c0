//! Takes over what the user's own git ignores beside the rules that are in the repository.
//!
//! Knows nothing of worktrees, and reads the user's rules only.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use pleach_system::files::regular_file;

use super::store::Project;
use super::{Store, StoreError};

/// The place of such rules in a git folder.
pub(crate) const RULES: &str = "info/exclude";

/// How the names of nested repositories end once they are disabled.
pub(crate) const DISABLED: &str = ".disabled";

/// More bytes of rules than anybody has.
const LARGEST: u64 = 16 << 20;

impl Store {
    /// Makes the rules of the user's configuration and git folder hold in all worktrees that are made from now on, for
    /// agents' git and for ours.
    pub(crate) fn adopt_excludes(&self) -> Result<(), StoreError> {
        // Capture takes nothing of a nested repository's git folder, whatever its name is by now.
        let mut rules = format!(".git{DISABLED}*\n").into_bytes();
        let (config, local) = match &self.project {
            Project::Local(checkout) => {
                let local = checkout.common_dir.join(RULES);
                (&checkout.config, Some(local))
            }
            Project::Remote(remote) => (&remote.config, None),
            Project::Plain(plain) => {
                rules.extend(plain.rules());
                (&plain.config, None)
            }
            Project::Borrowed(borrowed) => {
                let rules = borrowed.lent.ignored.as_bytes();
                return self.put_rules_if_other(rules);
            }
        };
        // Later rules win, and git gives way to those of the repository.
        for file in config.excludes_file().iter().chain(&local) {
            rules.extend(regular_file::read(file, LARGEST).unwrap_or_default());
            rules.push(b'\n');
        }
        self.put_rules_if_other(&rules)
    }

    fn put_rules_if_other(&self, rules: &[u8]) -> Result<(), StoreError> {
        let place = self.git_dir().join(RULES);
        if fs::read(&place).unwrap_or_default() != rules {
            self.put_rules(&place, rules)?;
        }
        Ok(())
    }

    /// As a whole, because others read it at the same time.
    fn put_rules(&self, place: &Path, rules: &[u8]) -> Result<(), StoreError> {
        let mut file = self.scratch_file()?;
        let put = || {
            fs::create_dir_all(place.parent().unwrap_or(place))?;
            file.write_all(rules)?;
            file.persist(place)?;
            Ok(())
        };
        put().map_err(StoreError::io("write", place))
    }
}
