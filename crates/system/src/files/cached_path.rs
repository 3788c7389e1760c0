//! Which paths of a worktree may stay in it from task to task.

use std::path::{Component, Path, PathBuf};

/// A path of the worktree as people write it, without the parts that mean nothing; `None` if it leads out of there, is
/// git's own, or means the whole.
pub fn cached_path(text: &str) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for part in Path::new(text).components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) if !name.eq_ignore_ascii_case(".git") => path.push(name),
            _ => return None,
        }
    }
    let is_one = !path.as_os_str().is_empty() && !text.contains('\0');
    is_one.then_some(path)
}
