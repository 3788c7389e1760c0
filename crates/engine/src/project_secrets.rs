//! The secrets of a project: what its git, its environment and the files that come along hold.

use std::fs;
use std::path::{Path, PathBuf};

use pleach_system::secrets::Secrets;

use pleach_git::git::{CommitId, Store};
use pleach_git::worktree::Included;

/// So many files that come along are looked through.
const MOST_FILES: usize = 2_000;

/// All that is known of a project: of our own environment, of what is passed on to programs by name, of git's
/// configuration, and of the files that come along into worktrees or that agents find in a plain folder.
pub(crate) fn secrets_of(store: &Store, base: &CommitId, passed_on: &[String]) -> Secrets {
    let mut secrets = Secrets::of_environment(passed_on);
    for (key, value) in store.users_config().pairs() {
        secrets.add_setting(key, value);
    }
    let folders = store.plain_folder().into_iter();
    for path in folders.flat_map(env_files) {
        secrets.add_file(&path);
    }
    // Where it cannot be listed, nothing comes along, and the run tells why.
    if let Ok(included) = Included::list(store, base) {
        for path in included.files().take(MOST_FILES) {
            secrets.add_file(&path);
        }
    }
    secrets
}

fn env_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let named = |entry: &fs::DirEntry| entry.file_name().as_encoded_bytes().starts_with(b".env");
    entries.filter(named).map(|entry| entry.path()).collect()
}
