//! Other repositories in a worktree: found without following a link, and disabled, so that git takes none of them for one.
//!
//! Git looks into submodules by itself and does what each is configured to do. Knows nothing of the worktree's own git
//! folder.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use pleach_system::files::plain_file::{change_mode, held, open_below};
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, OFlags, RenameFlags, fstat, renameat, renameat_with, statat,
};
use rustix::io::Errno;
use rustix::path::Arg;

use crate::git::{DISABLED, os_str};

/// More folders than any worktree has in earnest.
const MOST_FOLDERS: usize = 1 << 20;

/// What becomes of the repositories that are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Treatment {
    /// What git knows each by gets another name.
    Disable,
    /// They are the user's, and only named.
    Leave,
}

/// The repositories in a worktree besides its own.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NestedRepositories {
    /// Those that git does not know any more.
    pub disabled: Vec<PathBuf>,
    /// Those that it does, and folders that could not be looked at.
    pub left: Vec<PathBuf>,
}

/// Looks through a folder for repositories that are not its own.
pub(super) fn nested_repositories(root: &Path, treatment: Treatment) -> NestedRepositories {
    let mut nested = NestedRepositories::default();
    let mut folders = vec![PathBuf::new()];
    let mut count = 0;
    while let Some(folder) = folders.pop() {
        count += 1;
        let place = root.join(&folder);
        if count > MOST_FOLDERS {
            nested.left.push(place);
            break;
        }
        match visit(root, &folder, treatment) {
            Ok((found, inner)) => {
                match found {
                    // It is named by the folder that it is in.
                    FolderState::Disabled if is_git_folder(&folder) => {}
                    FolderState::Nothing => {}
                    FolderState::Disabled => nested.disabled.push(place),
                    FolderState::Left => nested.left.push(place),
                }
                folders.extend(inner);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => nested.left.push(place),
        }
    }
    nested
}

/// Whether a folder is what a repository above it is known by, or was.
fn is_git_folder(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    name.starts_with(b".git")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum FolderState {
    Nothing,
    Disabled,
    Left,
}

/// Treats what is in a folder, and names the folders within.
fn visit(
    root: &Path,
    path: &Path,
    treatment: Treatment,
) -> io::Result<(FolderState, Vec<PathBuf>)> {
    let open_up = || change_mode(root, path, FileType::Directory, |mode| mode | 0o700);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = match open_below(root, path, flags) {
        // Git finds what it knows the name of, whether or not it can list the folder.
        Err(Errno::ACCESS) if treatment == Treatment::Disable => {
            open_up()?;
            open_below(root, path, flags)?
        }
        opened => opened?,
    };
    if treatment == Treatment::Disable && fstat(&folder)?.st_mode & 0o100 == 0 {
        open_up()?;
    }
    let is_top = path.as_os_str().is_empty();
    let has = |name: &str| is_there(&folder, name);
    // The file system is asked by name, so that its own rules for small and capital letters count.
    let is_bare = has("HEAD") && (has("commondir") || has("objects") && has("refs"));
    let marks = [(".git", !is_top && has(".git")), ("HEAD", is_bare)];
    let mut found = FolderState::Nothing;
    for (name, _) in marks.iter().filter(|(_, is_mark)| *is_mark) {
        let is_disabled = treatment == Treatment::Disable
            && (disable(&folder, name).is_ok()
                || open_up().is_ok() && disable(&folder, name).is_ok());
        let this = if is_disabled {
            FolderState::Disabled
        } else {
            FolderState::Left
        };
        found = found.max(this);
    }
    let mut inner = Vec::new();
    for entry in Dir::read_from(&folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_own = is_top && name.to_bytes() == b".git";
        if is_own || matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => kind_of(&folder, name),
            kind => Some(kind),
        };
        if kind == Some(FileType::Directory) {
            inner.push(path.join(os_str(name.to_bytes())));
        }
    }
    Ok((found, inner))
}

/// Gives something a name that nothing has and git does not look for.
fn disable(folder: &OwnedFd, name: &str) -> io::Result<()> {
    let plain = format!("{name}{DISABLED}");
    match rename_to_free(folder, name, folder, &plain) {
        Err(Errno::EXIST) => {}
        renamed => return Ok(renamed?),
    }
    // Whoever made the repository could take names as well, but not all of these.
    let renamed = tempfile::Builder::new()
        .prefix(&format!("{plain}-"))
        .make_in(held(folder), |free| {
            Ok(rename_to_free(folder, name, CWD, free)?)
        })?;
    renamed.keep()?;
    Ok(())
}

fn rename_to_free(
    folder: &OwnedFd,
    name: &str,
    to: impl AsFd,
    free: impl Arg + Copy,
) -> Result<(), Errno> {
    match renameat_with(folder, name, &to, free, RenameFlags::NOREPLACE) {
        // Some file systems do not know how to; nobody works here any more who could be quicker.
        Err(Errno::INVAL | Errno::NOSYS) if !is_there(&to, free) => {
            renameat(folder, name, &to, free)
        }
        Err(Errno::INVAL | Errno::NOSYS) => Err(Errno::EXIST),
        renamed => renamed,
    }
}

fn is_there(folder: impl AsFd, name: impl Arg) -> bool {
    statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
}

fn kind_of(folder: &OwnedFd, name: impl Arg) -> Option<FileType> {
    let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    Some(FileType::from_raw_mode(stat.st_mode))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn names(folder: &Path) -> Vec<OsString> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn all_that_git_takes_for_a_repository_gets_other_names_and_nothing_behind_links_does() {
        let outside = tempfile::tempdir().unwrap();
        fs::create_dir_all(outside.path().join("theirs/.git")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for made in [
            "whole/.git/objects",
            "whole/.git/refs",
            "taken/.git",
            "taken/.git.disabled",
        ] {
            fs::create_dir_all(at(made)).unwrap();
        }
        fs::write(at("whole/.git/HEAD"), "ref: refs/heads/x\n").unwrap();
        for made in ["file", "link", "thin", "notes", "closed"] {
            fs::create_dir(at(made)).unwrap();
        }
        fs::write(at(".git"), "gitdir: elsewhere\n").unwrap();
        fs::write(at("file/.git"), "gitdir: elsewhere\n").unwrap();
        symlink("elsewhere", at("link/.git")).unwrap();
        symlink(outside.path(), at("away")).unwrap();
        fs::write(at("thin/HEAD"), "ref: refs/heads/x\n").unwrap();
        fs::write(at("thin/commondir"), "/elsewhere\n").unwrap();
        fs::write(at("notes/HEAD"), "a headline\n").unwrap();
        fs::write(at("closed/.git"), "gitdir: elsewhere\n").unwrap();
        fs::set_permissions(at("closed"), Permissions::from_mode(0o100)).unwrap();

        let named = nested_repositories(folder.path(), Treatment::Leave);
        assert_eq!((named.disabled.len(), named.left.len()), (0, 7));
        let found = nested_repositories(folder.path(), Treatment::Disable);
        assert!(found.left.is_empty(), "{:?}", found.left);
        assert_eq!(found.disabled.len(), 6);
        assert_eq!(names(&at("whole")), [".git.disabled"]);
        assert_eq!(
            names(&at("whole/.git.disabled")),
            ["HEAD.disabled", "objects", "refs"]
        );
        assert_eq!(names(&at("thin")), ["HEAD.disabled", "commondir"]);
        assert_eq!(names(&at("notes")), ["HEAD"]);
        for place in ["file", "link", "closed"] {
            assert_eq!(names(&at(place)), [".git.disabled"], "{place}");
        }
        let taken = names(&at("taken"));
        assert_eq!(taken.len(), 2);
        assert!(!taken.contains(&".git".into()), "{taken:?}");
        assert!(at(".git").is_file() && outside.path().join("theirs/.git").is_dir());
        let again = nested_repositories(folder.path(), Treatment::Disable);
        assert_eq!(again, NestedRepositories::default());
    }
}
