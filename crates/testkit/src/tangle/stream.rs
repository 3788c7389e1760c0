//! Commits written as one `git fast-import` stream.
//!
//! Knows what commits hold, not what they are good for.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::rc::Rc;

use crate::hermetic;

/// What a path of a commit is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    File,
    Program,
    Link,
    /// A submodule: the content is a commit id.
    Module,
}

/// A path's mode and content.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub mode: Mode,
    pub(crate) content: Rc<[u8]>,
}

impl Entry {
    pub(crate) fn new(mode: Mode, content: impl AsRef<[u8]>) -> Self {
        let content = content.as_ref().into();
        Self { mode, content }
    }
}

/// All paths of a commit, always free of files that are folders at the same time.
#[derive(Clone, Default)]
pub(crate) struct Snapshot(BTreeMap<Vec<u8>, Entry>);

impl Snapshot {
    /// Puts an entry and takes away whatever is above or below it.
    pub(crate) fn put(&mut self, path: impl AsRef<[u8]>, entry: Entry) {
        let path = path.as_ref();
        for (at, _) in path.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
            self.0.remove(&path[..at]);
        }
        for below in self.below(path) {
            self.0.remove(&below);
        }
        self.0.insert(path.to_vec(), entry);
    }

    pub(crate) fn write(&mut self, path: impl AsRef<[u8]>, content: impl AsRef<[u8]>) {
        self.put(path, Entry::new(Mode::File, content));
    }

    pub(crate) fn take(&mut self, path: impl AsRef<[u8]>) -> Option<Entry> {
        self.0.remove(path.as_ref())
    }

    /// Moves a file, or all of a folder.
    pub(crate) fn rename(&mut self, from: impl AsRef<[u8]>, to: impl AsRef<[u8]>) {
        let (from, to) = (from.as_ref(), to.as_ref());
        let mut moved = Vec::new();
        for path in self.below(from) {
            let new = [to, &path[from.len()..]].concat();
            moved.extend(self.0.remove(&path).map(|entry| (new, entry)));
        }
        moved.extend(self.0.remove(from).map(|entry| (to.to_vec(), entry)));
        for (path, entry) in moved {
            self.put(path, entry);
        }
    }

    /// The paths inside a folder, however deep.
    pub(crate) fn below(&self, folder: impl AsRef<[u8]>) -> Vec<Vec<u8>> {
        let start = [folder.as_ref(), b"/"].concat();
        let from_start = self.0.range(start.clone()..);
        let inside = from_start.take_while(|(path, _)| path.starts_with(&start));
        inside.map(|(path, _)| path.clone()).collect()
    }

    pub(crate) fn entry(&self, path: impl AsRef<[u8]>) -> Option<&Entry> {
        self.0.get(path.as_ref())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Vec<u8>, &Entry)> {
        self.0.iter()
    }

    pub(crate) fn changes_since(&self, older: &Self) -> Vec<Change> {
        let gone = older.0.keys().filter(|path| !self.0.contains_key(*path));
        let removals = gone.map(|path| Change::Remove(path.clone()));
        let new = self
            .0
            .iter()
            .filter(|(path, entry)| older.0.get(*path) != Some(entry));
        let puts = new.map(|(path, entry)| Change::Put(path.clone(), entry.clone()));
        // Removals come first: what was a file may now be a folder.
        removals.chain(puts).collect()
    }
}

/// A step from one commit's files to the next one's.
pub(crate) enum Change {
    Put(Vec<u8>, Entry),
    Remove(Vec<u8>),
}

/// A commit in the stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mark(u64);

/// A running import.
pub(crate) struct FastImport {
    importer: Child,
    out: BufWriter<ChildStdin>,
    last: u64,
}

impl FastImport {
    pub(crate) fn into(repo: &Path) -> Self {
        let mut importer = hermetic::git(repo)
            // Deltas between unrelated files make chains that no real repository has.
            .args(["-c", "core.compression=1", "-c", "fastimport.unpackLimit=0"])
            .args(["fast-import", "--quiet", "--depth=0"])
            // Git compresses each object with a fresh quarter of a megabyte, which the allocator of
            // glibc would return to the kernel every time.
            .env("MALLOC_TRIM_THRESHOLD_", "1073741824")
            .env("MALLOC_TOP_PAD_", "16777216")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("git is installed");
        let out = importer.stdin.take().expect("the input is a pipe");
        let out = BufWriter::with_capacity(1 << 18, out);
        let last = 0;
        Self {
            importer,
            out,
            last,
        }
    }

    /// Writes a commit onto its parents and moves a branch there.
    pub(crate) fn commit(
        &mut self,
        branch: &str,
        parents: &[Mark],
        changes: impl IntoIterator<Item = Change>,
    ) -> Mark {
        self.last += 1;
        // Every commit has a time of its own: the order of several merge bases depends on it.
        let time = 1_704_067_200 + self.last;
        self.write(format!(
            "commit refs/heads/{branch}\nmark :{}\ncommitter Tess Tester <tess@example.com> {time} +0000\n",
            self.last
        ));
        self.data(branch.as_bytes());
        for (index, parent) in parents.iter().enumerate() {
            let word = if index == 0 { "from" } else { "merge" };
            self.write(format!("{word} :{}\n", parent.0));
        }
        for change in changes {
            self.change(&change);
        }
        self.write("\n");
        Mark(self.last)
    }

    /// Makes a branch at a commit that is there.
    pub(crate) fn branch(&mut self, branch: &str, at: Mark) {
        self.write(format!("reset refs/heads/{branch}\nfrom :{}\n\n", at.0));
    }

    /// Waits until all of it is in the repository.
    pub(crate) fn finish(mut self) {
        self.out.flush().expect("git reads until the end");
        drop(self.out);
        let status = self.importer.wait().expect("it was started");
        assert!(status.success(), "git fast-import ended with {status}");
    }

    fn change(&mut self, change: &Change) {
        match change {
            Change::Remove(path) => self.write(format!("D {}\n", quoted(path))),
            Change::Put(path, entry) if entry.mode == Mode::Module => {
                let id = String::from_utf8_lossy(&entry.content);
                self.write(format!("M 160000 {id} {}\n", quoted(path)));
            }
            Change::Put(path, entry) => {
                let mode = match entry.mode {
                    Mode::Program => "100755",
                    Mode::Link => "120000",
                    Mode::File | Mode::Module => "100644",
                };
                self.write(format!("M {mode} inline {}\n", quoted(path)));
                self.data(&entry.content);
            }
        }
    }

    fn data(&mut self, bytes: &[u8]) {
        self.write(format!("data {}\n", bytes.len()));
        self.write(bytes);
        self.write("\n");
    }

    fn write(&mut self, bytes: impl AsRef<[u8]>) {
        let written = self.out.write_all(bytes.as_ref());
        written.expect("git reads until the end and says why if it does not");
    }
}

/// A path as fast-import reads it, whatever bytes it has.
fn quoted(path: &[u8]) -> String {
    let mut out = String::from("\"");
    for byte in path {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(*byte)]),
            b' '..=b'~' => out.push(char::from(*byte)),
            _ => {
                let octal = format!("\\{byte:03o}");
                out.push_str(&octal);
            }
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(snapshot: &Snapshot) -> Vec<String> {
        let paths = snapshot.iter().map(|(path, _)| path);
        paths.map(|path| quoted(path)).collect()
    }

    #[test]
    fn a_path_is_never_a_file_and_a_folder() {
        let mut snapshot = Snapshot::default();
        snapshot.write("a/b", "file");
        snapshot.write("a/b/c/d", "below it");
        snapshot.write("a/b.txt", "beside it");
        assert_eq!(paths(&snapshot), ["\"a/b.txt\"", "\"a/b/c/d\""]);
        snapshot.write("a/b", "file again");
        assert_eq!(paths(&snapshot), ["\"a/b\"", "\"a/b.txt\""]);
    }

    #[test]
    fn a_folder_can_move_below_itself() {
        let mut snapshot = Snapshot::default();
        snapshot.write("a/b", "one");
        snapshot.write("a/c\n", "two");
        snapshot.rename("a", "a/b");
        assert_eq!(paths(&snapshot), ["\"a/b/b\"", "\"a/b/c\\012\""]);
    }
}
