//! Everything about a worktree that somebody who works there could see.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use pleach_git::git::ref_segment;
use pleach_git::worktree::Worktree;

use super::scene::Scene;

/// Files, modes and contents, the index, git's own folder and what git says, as text without the names of the task.
pub(crate) fn portrait(scene: &Scene, worktree: &Worktree, but_for: &[&str]) -> String {
    let mut text = String::new();
    let root = worktree.path();
    describe(root, root, but_for, &mut text);
    let id = ref_segment(worktree.branch());
    let admin = scene.store.home().join("agents").join(&id);
    text.push_str("admin\n");
    describe(&admin, &admin, &["index"], &mut text);
    for index in [
        admin.join("index"),
        scene.store.home().join("index").join(&id),
    ] {
        // Its entries are as long whatever was noted about the files; what is added to it would make it longer.
        writeln!(text, "index of {} bytes", fs::read(&index).unwrap().len()).unwrap();
    }
    for words in [
        &["ls-files", "--stage"][..],
        &["ls-files", "-v", "-f"],
        // Asked of the index alone: nothing has to be read to see that all is unchanged.
        &["diff-files"],
        &["rev-parse", "HEAD", "HEAD^{tree}"],
    ] {
        let said = scene.repo.git_in(root, words);
        writeln!(text, "{words:?}\n{said}").unwrap();
    }
    let status = ["status", "--porcelain", "--ignored", "--branch"];
    let is_shown = |line: &&str| !but_for.iter().any(|path| line.contains(path));
    for line in scene.repo.git_in(root, &status).lines().filter(is_shown) {
        writeln!(text, "status {line}").unwrap();
    }
    let root = root.to_str().unwrap();
    let text = text.replace(&id, "ID").replace(root, "ROOT");
    let text = text.replace(worktree.branch(), "BRANCH");
    let (above, _) = worktree.branch().rsplit_once('/').unwrap();
    text.replace(above, "ABOVE")
}

fn describe(root: &Path, folder: &Path, but_for: &[&str], text: &mut String) {
    let meta = fs::symlink_metadata(folder).unwrap();
    let path = folder.strip_prefix(root).unwrap().to_owned();
    let facts = (meta.mode(), meta.uid(), meta.gid());
    writeln!(text, "{} {facts:?}", path.display()).unwrap();
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(Result::unwrap).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (place, meta) = (entry.path(), entry.metadata().unwrap());
        let path = place.strip_prefix(root).unwrap();
        if but_for.iter().any(|other| Path::new(other) == path) {
            continue;
        }
        if meta.is_dir() {
            describe(root, &place, but_for, text);
            continue;
        }
        let content = if meta.is_symlink() {
            fs::read_link(&place).unwrap().display().to_string()
        } else {
            String::from_utf8_lossy(&fs::read(&place).unwrap()).into_owned()
        };
        let facts = (meta.mode(), meta.uid(), meta.gid(), meta.nlink());
        writeln!(text, "{} {facts:?} {content:?}", path.display()).unwrap();
    }
}
