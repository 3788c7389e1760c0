//! What a repository looks like from outside, as text that two moments can be compared by.
//!
//! Knows nothing of what happened in between.

use std::fmt;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::repo::TestRepo;

/// Head, refs, index, status, stash, configuration and files of a repository at one moment.
#[derive(PartialEq, Eq, Clone)]
pub struct Fingerprint(Vec<String>);

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.0).finish()
    }
}

impl TestRepo {
    /// Everything about this repository that a tool may not change behind its user's back.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::take(self)
    }
}

impl Fingerprint {
    /// What is told of only one of two moments.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let only = |these: &Self, those: &Self, sign: char| -> Vec<String> {
            let these = these.0.iter().filter(|line| !those.0.contains(line));
            these.map(|line| format!("{sign} {line}")).collect()
        };
        [only(self, other, '-'), only(other, self, '+')].concat()
    }

    fn take(repo: &TestRepo) -> Self {
        let mut lines = Vec::new();
        let questions: &[&[&str]] = &[
            &["for-each-ref", "--format=%(refname) %(objectname)"],
            &["status", "--porcelain=v2", "--branch", "--ignored"],
            &["stash", "list"],
            &["worktree", "list", "--porcelain"],
        ];
        for question in questions {
            let answer = repo.git(question);
            let foreign = answer.lines().filter(|l| !l.contains("refs/heads/pleach/"));
            lines.extend(foreign.map(|line| format!("{}: {line}", question[0])));
        }
        list(repo.path(), repo.path(), &mut lines);
        Self(lines)
    }
}

/// Objects may be added, and branches under `pleach/` are the tool's own.
fn is_exempt(name: &str) -> bool {
    let own = ["refs/heads/pleach", "logs/refs/heads/pleach"];
    name == ".git/objects"
        || own
            .iter()
            .any(|own| name.strip_prefix(".git/") == Some(own))
}

fn list(root: &Path, folder: &Path, lines: &mut Vec<String>) {
    let entries = fs::read_dir(folder).expect("the folder can be read");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("the folder can be read").path())
        .collect();
    paths.sort();
    for path in paths {
        let inside = path
            .strip_prefix(root)
            .expect("it was found below the root");
        let name = inside.to_string_lossy().into_owned();
        if is_exempt(&name) {
            continue;
        }
        let meta = fs::symlink_metadata(&path).expect("the file is still there");
        let mode = meta.permissions().mode();
        if meta.is_dir() {
            lines.push(format!("folder {name} {mode:o}"));
            list(root, &path, lines);
        } else if meta.is_symlink() {
            let target = fs::read_link(&path).expect("it is a link");
            lines.push(format!("link {name} {}", target.display()));
        } else {
            let mut hasher = DefaultHasher::new();
            fs::read(&path)
                .expect("the file can be read")
                .hash(&mut hasher);
            lines.push(format!("file {name} {mode:o} {:016x}", hasher.finish()));
        }
    }
}
