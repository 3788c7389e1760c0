//! Turns whatever an agent left in its worktree into one commit.
//!
//! Reads the agent's files and where its head is, and runs nothing that it configured.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::git::read::{Entry, parse_entries};
use crate::git::{
    Call, CommitId, GitError, Store, StoreError, TreeId, nul_separated, os_str, parse_id,
};
use crate::worktree::{Worktree, copy_index};

/// Why the work could not be captured; the worktree is as it was.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The folder with the work is gone, or is no folder any more.
    #[error("could not capture the work: {} is not a folder any more", path.display())]
    Gone {
        /// Where the worktree was.
        path: PathBuf,
    },
    /// Files could not be read.
    #[error("could not read {}", path.display())]
    Io {
        /// What was to be read.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Git itself failed.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// How a task's work is to be captured.
#[derive(Debug, Clone)]
pub struct CaptureOptions {
    /// The message of the commit, where one has to be made.
    pub message: String,
    /// Paths in the worktree whose changes are not part of the work.
    pub leave_out: Vec<PathBuf>,
}

/// What an agent left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Captured {
    /// The files are those of the basis.
    Unchanged {
        /// The changed paths that were left out.
        left_out: Vec<PathBuf>,
    },
    /// There is work.
    Changed {
        /// The commit that holds it, on top of the basis.
        commit: CommitId,
        /// The paths that differ from the basis.
        files: Vec<String>,
        /// The changed paths that were left out.
        left_out: Vec<PathBuf>,
        /// How many commits the agent made itself.
        agent_commits: usize,
        /// What became of the history that the task started from.
        history: History,
    },
}

/// Whether an agent worked on top of what it was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum History {
    /// It did.
    Continued,
    /// It left or rewrote it; its files were taken as they are and its own commits are kept.
    Abandoned,
}

/// Captures the work of an agent that has ended, and moves the task's branch to it.
pub fn capture(
    store: &Store,
    worktree: &Worktree,
    options: &CaptureOptions,
) -> Result<Captured, CaptureError> {
    let basis = worktree.basis();
    let head = agent_head(store, worktree)?;
    let start = match &head {
        Some(head) if store.is_ancestor(basis, head)? => head.clone(),
        _ => basis.clone(),
    };
    let mut history = History::Continued;
    if let Some(head) = head.filter(|head| *head != start) {
        // A history that was rewritten is not taken over, and not lost either.
        store.keep(&head, worktree.branch())?;
        history = History::Abandoned;
    }
    let staging = Staging::of(store, worktree, &start)?;
    let left_out = staging.put_back(&options.leave_out)?;
    let tree = staging.tree()?;
    if tree == store.tree_of(basis)? {
        return Ok(Captured::Unchanged { left_out });
    }
    let agent_commits = store.count_commits(&start, basis)?;
    let commit = if tree == store.tree_of(&start)? {
        start
    } else {
        store.commit_tree(&tree, &[&start], &options.message, None)?
    };
    move_branch(store, worktree, &commit)?;
    Ok(Captured::Changed {
        files: store.changed_files(basis, &commit)?,
        commit,
        left_out,
        agent_commits,
        history,
    })
}

/// Makes a commit of the last state of a worktree, whatever it is; `None` if it is the basis.
pub fn snapshot(store: &Store, worktree: &Worktree) -> Result<Option<CommitId>, CaptureError> {
    let basis = worktree.basis();
    let head = agent_head(store, worktree)?.unwrap_or_else(|| basis.clone());
    let tree = Staging::of(store, worktree, &head)?.tree()?;
    if tree != store.tree_of(&head)? {
        let message = "Last state of an attempt\n";
        let commit = store.commit_tree(&tree, &[&head], message, None)?;
        return Ok(Some(commit));
    }
    Ok((head != *basis).then_some(head))
}

/// The commit that the worktree is at, read without asking the agent's git.
fn agent_head(store: &Store, worktree: &Worktree) -> Result<Option<CommitId>, CaptureError> {
    let file = worktree.admin().join("HEAD");
    if !is_plain_file(&file) {
        return Ok(None);
    }
    let head = fs::read_to_string(&file).unwrap_or_default();
    let head = head.trim_end();
    let name = head.strip_prefix("ref: ").unwrap_or(head);
    // Anything else would be looked up as an expression.
    if name.starts_with("refs/") || name.parse::<CommitId>().is_ok() {
        return Ok(store.ref_commit(name)?);
    }
    Ok(None)
}

fn move_branch(store: &Store, worktree: &Worktree, commit: &CommitId) -> Result<(), CaptureError> {
    let name = worktree.branch_ref();
    let seen = store.ref_commit(&name)?;
    if seen.as_ref() == Some(commit) {
        return Ok(());
    }
    if let Some(seen) = &seen
        && !store.is_ancestor(seen, commit)?
    {
        store.keep(seen, worktree.branch())?;
    }
    Ok(store.swap_ref(&name, commit, seen.as_ref())?)
}

/// A private index that holds the working files.
struct Staging<'a> {
    store: &'a Store,
    worktree: &'a Worktree,
    scratch: tempfile::TempDir,
}

impl<'a> Staging<'a> {
    /// Reads the working files into an index that begins as the tree of a commit.
    fn of(
        store: &'a Store,
        worktree: &'a Worktree,
        start: &CommitId,
    ) -> Result<Self, CaptureError> {
        let path = worktree.path();
        // A link could lead anywhere, and its target is not the agent's work.
        if !path.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            return Err(CaptureError::Gone {
                path: path.to_owned(),
            });
        }
        let staging = Self {
            store,
            worktree,
            scratch: store.scratch()?,
        };
        // It remembers when each file was written, which saves reading the unchanged ones.
        if copy_index(worktree.pristine_index(), &staging.index()).is_err() {
            // Half of it would be worse than none, and without it all files are read.
            let _ = fs::remove_file(staging.index());
        }
        let begin = ["read-tree", "-m", "-i", start.as_str()];
        staging.call().args(begin).output()?;
        staging.settle_gitlinks(start)?;
        make_readable(path)?;
        let Changed { mut present, gone } = staging.changed()?;
        present.extend(staging.untracked()?);
        // First, because git refuses to look behind a folder that has become a link.
        staging.update(&["--force-remove", "--stdin"], gone)?;
        staging.update(&["--add", "--remove", "--replace", "--stdin"], present)?;
        Ok(staging)
    }

    fn tree(&self) -> Result<TreeId, GitError> {
        parse_id("write-tree", &self.call().arg("write-tree").output()?)
    }

    fn index(&self) -> PathBuf {
        self.scratch.path().join("index")
    }

    fn call(&self) -> Call {
        self.store
            .call()
            .work_tree(self.worktree.path())
            .index(&self.index())
    }

    fn update(&self, how: &[&str], lines: Vec<u8>) -> Result<(), GitError> {
        let call = self.call().args(["update-index", "-z"]).args(how);
        call.stdin(lines).output().map(drop)
    }

    /// Submodules stay as the basis has them, and nested repositories are no submodules.
    fn settle_gitlinks(&self, start: &CommitId) -> Result<(), CaptureError> {
        let before = self.gitlinks_and_rest(self.worktree.basis())?.0;
        let (now, rest) = self.gitlinks_and_rest(start)?;
        let mut lines = Vec::new();
        for new in now.iter().filter(|link| !has_path(&before, &link.path)) {
            lines.extend(new.drop());
        }
        for link in &before {
            let is_replaced = rest
                .iter()
                .any(|entry| is_at_or_below(&entry.path, &link.path));
            if !is_replaced {
                let holds_files = holds_plain_files(&self.worktree.path().join(os_str(&link.path)));
                lines.extend(if holds_files { link.drop() } else { link.put() });
            }
        }
        Ok(self.update(&["--index-info"], lines)?)
    }

    fn gitlinks_and_rest(&self, commit: &CommitId) -> Result<(Vec<Entry>, Vec<Entry>), GitError> {
        let entries = self.store.tree_entries(commit, None)?;
        Ok(entries.into_iter().partition(Entry::is_gitlink))
    }

    /// The paths that are not in the index and are not ignored, each ended by NUL.
    fn untracked(&self) -> Result<Vec<u8>, CaptureError> {
        let mut paths = Vec::new();
        let untracked = ["ls-files", "-z", "--others", "--exclude-standard"];
        let untracked = self.call().args(untracked).output()?;
        let mut nested = Vec::new();
        for path in nul_separated(&untracked) {
            // Only a repository of its own is listed as a folder.
            if path.ends_with(b"/") {
                let folder = Path::new(os_str(&path[..path.len() - 1]));
                plain_files(self.worktree.path(), folder, &mut nested)?;
            } else {
                push_path(&mut paths, path);
            }
        }
        paths.extend(self.without_ignored(&nested)?);
        paths.extend(self.staged_by_force()?);
        Ok(paths)
    }

    /// The paths in the index whose files are not as it says.
    fn changed(&self) -> Result<Changed, GitError> {
        // Looking into a submodule would run what is configured there.
        let ask = ["diff-files", "--raw", "-z", "--ignore-submodules=all"];
        let printed = self.call().args(ask).output()?;
        let mut records = nul_separated(&printed);
        let (mut present, mut gone, mut doubtful) = (Vec::new(), Vec::new(), Vec::new());
        while let (Some(change), Some(path)) = (records.next(), records.next()) {
            let change = String::from_utf8_lossy(change);
            let fields: Vec<&str> = change.trim_start_matches(':').split(' ').collect();
            match fields[..] {
                [old, new, id, _, "M"] if old == new && self.can_be_hashed(old, path) => {
                    doubtful.push((id.to_owned(), path));
                }
                [_, _, _, _, "D"] => push_path(&mut gone, path),
                _ => push_path(&mut present, path),
            }
        }
        // A file that holds the very bytes of its blob is unchanged, though attributes that came
        // later may say that it should be stored in another way.
        for ((old, path), new) in doubtful.iter().zip(self.raw_ids(&doubtful)?) {
            if *old != new {
                push_path(&mut present, path);
            }
        }
        Ok(Changed { present, gone })
    }

    /// Whether git can be asked for the id of a file by a line: what is behind a link or a pipe is not
    /// the work, and a line cannot hold every name.
    fn can_be_hashed(&self, mode: &str, path: &[u8]) -> bool {
        let fits_a_line = !path.contains(&b'\n') && !path.ends_with(b"\r");
        let file = self.worktree.path().join(os_str(path));
        mode.starts_with("100") && fits_a_line && is_plain_file(&file)
    }

    /// The ids that files would have if they were stored byte for byte.
    fn raw_ids(&self, files: &[(String, &[u8])]) -> Result<Vec<String>, GitError> {
        // The leading dot keeps a quotation mark from being read as quoting.
        let lines = files
            .iter()
            .flat_map(|(_, path)| [b"./", *path, b"\n"].concat());
        let hash = ["hash-object", "--no-filters", "--stdin-paths"];
        let call = self.call().args(hash).stdin(lines.collect::<Vec<u8>>());
        let printed = String::from_utf8_lossy(&call.output()?).into_owned();
        Ok(printed.lines().map(str::to_owned).collect())
    }

    fn without_ignored(&self, files: &[PathBuf]) -> Result<Vec<u8>, GitError> {
        if files.is_empty() {
            return Ok(Vec::new());
        }
        // A leading dot keeps a colon from being read as magic.
        let mut question = Vec::new();
        for file in files {
            question.extend_from_slice(b"./");
            question.extend_from_slice(file.as_os_str().as_bytes());
            question.push(0);
        }
        let ask = ["check-ignore", "-z", "--no-index", "--stdin"];
        let answer = self.call().args(ask).stdin(question.clone()).run()?;
        if !matches!(answer.code, 0 | 1) {
            return Err(answer.failure());
        }
        let ignored: std::collections::HashSet<_> = nul_separated(&answer.stdout).collect();
        let mut left = Vec::new();
        for path in nul_separated(&question).filter(|path| !ignored.contains(path)) {
            push_path(&mut left, &path[b"./".len()..]);
        }
        Ok(left)
    }

    /// Ignored files that the agent put into its own index all the same.
    fn staged_by_force(&self) -> Result<Vec<u8>, GitError> {
        let theirs = self.scratch.path().join("theirs");
        let index = self.worktree.admin().join("index");
        if !is_plain_file(&index) || fs::copy(&index, &theirs).is_err() {
            return Ok(Vec::new());
        }
        let list = [
            "ls-files",
            "-z",
            "--cached",
            "--ignored",
            "--exclude-standard",
        ];
        let listed = self.call().index(&theirs).args(list).run()?;
        // An index that the agent spoilt says nothing, and that must not cost the rest.
        Ok(if listed.code == 0 {
            listed.stdout
        } else {
            Vec::new()
        })
    }

    /// Puts paths back to what the basis has, and returns those that differed.
    fn put_back(&self, paths: &[PathBuf]) -> Result<Vec<PathBuf>, GitError> {
        let mut lines = Vec::new();
        let mut changed = Vec::new();
        for path in paths {
            let bytes = path.as_os_str().as_bytes();
            let wanted = self
                .store
                .tree_entries(self.worktree.basis(), Some(bytes))?;
            let list = ["ls-files", "-z", "--stage", "--"];
            let call = self.call().env("GIT_LITERAL_PATHSPECS", "1");
            let found = call.args(list).arg(path).output()?;
            let found = parse_entries("ls-files", &found)?;
            if found != wanted {
                lines.extend(found.iter().flat_map(Entry::drop));
                lines.extend(wanted.iter().flat_map(Entry::put));
                changed.push(path.clone());
            }
        }
        self.update(&["--index-info"], lines)?;
        Ok(changed)
    }
}

/// Paths whose files differ from an index, each ended by NUL.
struct Changed {
    present: Vec<u8>,
    gone: Vec<u8>,
}

/// Gives the owner the right to read everything: git passes over what it may not read, and it would
/// be lost with the worktree.
fn make_readable(folder: &Path) -> Result<(), CaptureError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| CaptureError::Io { path, source }
    };
    open_up(folder, 0o700).map_err(failed(folder))?;
    for entry in fs::read_dir(folder).map_err(failed(folder))? {
        let entry = entry.map_err(failed(folder))?;
        let path = entry.path();
        let kind = entry.file_type().map_err(failed(&path))?;
        if kind.is_dir() {
            make_readable(&path)?;
        } else if kind.is_file() {
            open_up(&path, 0o400).map_err(failed(&path))?;
        }
    }
    Ok(())
}

fn open_up(path: &Path, wanted: u32) -> io::Result<()> {
    let mode = path.symlink_metadata()?.permissions().mode();
    if mode & wanted == wanted {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(mode | wanted))
}

/// Whether it can be read without waiting for anybody, as a pipe could not.
fn is_plain_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_file())
}

fn push_path(paths: &mut Vec<u8>, path: &[u8]) {
    paths.extend_from_slice(path);
    paths.push(0);
}

fn has_path(entries: &[Entry], path: &[u8]) -> bool {
    entries.iter().any(|entry| entry.path == path)
}

fn is_at_or_below(path: &[u8], top: &[u8]) -> bool {
    let rest = path.strip_prefix(top);
    rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}

/// Whether somebody filled the empty folder of a submodule with files of no repository.
fn holds_plain_files(folder: &Path) -> bool {
    let is_folder = folder.symlink_metadata().is_ok_and(|meta| meta.is_dir());
    let is_repository = folder.join(".git").symlink_metadata().is_ok();
    let has_entries = fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    is_folder && !is_repository && has_entries
}

/// The files of a folder and all below it, without any repository's own bookkeeping.
fn plain_files(root: &Path, folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), CaptureError> {
    let place = root.join(folder);
    let failed = |source| CaptureError::Io {
        path: place.clone(),
        source,
    };
    for entry in fs::read_dir(&place).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        if name.eq_ignore_ascii_case(".git") {
            continue;
        }
        let kind = entry.file_type().map_err(failed)?;
        if kind.is_dir() {
            plain_files(root, &folder.join(name), files)?;
        } else if kind.is_file() || kind.is_symlink() {
            files.push(folder.join(name));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_its_owner_may_not_read_is_opened_up_and_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let (closed, file) = (folder.path().join("closed"), folder.path().join("closed/f"));
        fs::create_dir(&closed).unwrap();
        fs::write(&file, "work").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o010)).unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
        make_readable(folder.path()).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&closed), mode(&file)), (0o700, 0o410));
    }
}
