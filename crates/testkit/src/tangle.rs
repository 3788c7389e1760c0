//! Random repositories with many branches, the same for the same seed.
//!
//! Knows nothing of merging: whether branches conflict is for git to say.

pub(crate) mod rng;
pub(crate) mod stream;
mod tasks;
mod wild;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

pub(crate) use rng::SeededRng;

use crate::hermetic;
use stream::FastImport;

/// What a random repository shall be like.
#[derive(Clone, Debug)]
pub struct Tangle {
    /// Everything else follows from it: the same seed gives the same commit ids.
    pub seed: u64,
    pub files: usize,
    pub branches: usize,
    /// The median size of a file in bytes.
    pub median: usize,
    pub habit: Habit,
    /// Whether somebody can work in it.
    pub form: Form,
    /// Where the temporary folder is made; the system's place for such if none.
    pub parent: Option<PathBuf>,
}

/// What branches do to their base.
#[derive(Clone, Debug)]
pub enum Habit {
    /// One commit of one to five files on the base, as tasks do it.
    Tasks(Shares),
    /// Whatever git can store, with histories of all shapes.
    Wild,
}

/// How often what happens, in percent.
#[derive(Clone, Debug)]
pub struct Shares {
    /// Of touched files: added.
    pub adds: usize,
    /// Of touched files: renamed, half of them edited as well.
    pub renames: usize,
    /// Of touched files: deleted; what is left is edited.
    pub deletes: usize,
    /// Of branches: those that edit one certain file too.
    pub hub: usize,
    /// Of branches: those that edit a line that an earlier branch edits.
    pub conflicts: usize,
}

impl Default for Shares {
    fn default() -> Self {
        Self {
            adds: 10,
            renames: 3,
            deletes: 2,
            hub: 10,
            conflicts: 5,
        }
    }
}

/// Whether a repository has a working tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// None, as fits large ones.
    Bare,
    /// With `main` checked out.
    CheckedOut,
}

impl Tangle {
    /// Branches as tasks make them, on files of real sizes, without a working tree.
    pub fn tasks(seed: u64, files: usize, branches: usize) -> Self {
        Self {
            seed,
            files,
            branches,
            median: 3_000,
            habit: Habit::Tasks(Shares::default()),
            form: Form::Bare,
            parent: None,
        }
    }

    /// A small repository in which everything happens that git can store.
    pub fn wild(seed: u64) -> Self {
        Self {
            seed,
            files: 120,
            branches: 24,
            median: 400,
            habit: Habit::Wild,
            form: Form::CheckedOut,
            parent: None,
        }
    }

    pub fn make(&self) -> Tangled {
        let repo = EmptyRepo::new(self.form, self.parent.as_deref());
        let mut stream = FastImport::into(&repo.path);
        let branches = match &self.habit {
            Habit::Tasks(shares) => tasks::write(self, shares, &mut stream),
            Habit::Wild => wild::write(self, &mut stream),
        };
        stream.finish();
        repo.tangled(branches)
    }
}

/// A repository in a temporary folder with a base and branches to be merged onto it.
pub struct Tangled {
    folder: TempDir,
    path: PathBuf,
    /// The commit that `main` is at.
    pub base: String,
    /// The branches in the order of merging.
    pub branches: Vec<String>,
}

impl Tangled {
    /// The working tree, or the git folder of a bare repository.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A place outside the repository that goes away together with it.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs git in the repository and returns what it printed, without the last line break.
    #[track_caller]
    pub fn git(&self, args: &[&str]) -> String {
        hermetic::ask(&self.path, args)
    }
}

/// A repository before its commits are imported.
pub(crate) struct EmptyRepo {
    folder: TempDir,
    pub(crate) path: PathBuf,
    form: Form,
}

impl EmptyRepo {
    pub(crate) fn new(form: Form, parent: Option<&Path>) -> Self {
        let folder = parent.map_or_else(TempDir::new, TempDir::new_in);
        let folder = folder.expect("a temporary folder can be made");
        let root = folder.path().canonicalize();
        let root = root.expect("the folder was just made");
        let place: &[&str] = match form {
            Form::Bare => &["--bare", "project"],
            Form::CheckedOut => &["project"],
        };
        let path = root.join("project");
        let init = ["init", "--quiet", "--template=", "--initial-branch=main"];
        hermetic::ask(&root, &[&init, place].concat());
        let repo = Self { folder, path, form };
        repo.set(&[
            ("gc", "auto", "0"),
            ("user", "name", "Tess Tester"),
            ("user", "email", "tess@example.com"),
        ]);
        repo
    }

    /// Adds settings, straight to the file: a process for each would take longer than the rest.
    pub(crate) fn set(&self, settings: &[(&str, &str, &str)]) {
        let config = match self.form {
            Form::Bare => self.path.join("config"),
            Form::CheckedOut => self.path.join(".git/config"),
        };
        let mut text = fs::read_to_string(&config).expect("git has made it");
        for (section, key, value) in settings {
            let _ = writeln!(text, "[{section}]\n\t{key} = {value}");
        }
        fs::write(config, text).expect("it was just read");
    }

    pub(crate) fn tangled(self, branches: Vec<String>) -> Tangled {
        if self.form == Form::CheckedOut {
            hermetic::ask(&self.path, &["reset", "--quiet", "--hard", "main"]);
        }
        let base = hermetic::ask(&self.path, &["rev-parse", "refs/heads/main"]);
        let Self { folder, path, .. } = self;
        Tangled {
            folder,
            path,
            base,
            branches,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refs(repo: &Tangled) -> String {
        repo.git(&["for-each-ref", "--format=%(refname) %(objectname)"])
    }

    #[test]
    fn the_same_seed_gives_the_same_commits_and_another_one_does_not() {
        for make in [Tangle::wild, |seed| Tangle::tasks(seed, 100, 20)] {
            let [once, again, other] = [1, 1, 2].map(|seed| refs(&make(seed).make()));
            assert_eq!(once, again);
            assert_ne!(once, other);
        }
    }

    #[test]
    fn a_repository_has_the_files_and_branches_asked_for() {
        let repo = Tangle::tasks(3, 1_000, 50).make();
        let files = repo.git(&["ls-tree", "-r", "--name-only", &repo.base]);
        assert_eq!(files.lines().count(), 1_000);
        let depth = |path: &str| path.matches('/').count();
        let deepest = files.lines().map(depth).max().unwrap();
        assert!((6..=9).contains(&deepest), "{deepest}");
        assert_eq!(repo.branches.len(), 50);
        assert_eq!(refs(&repo).lines().count(), 51);
        assert_eq!(repo.git(&["count-objects"]), "0 objects, 0 kilobytes");
        assert_eq!(repo.git(&["rev-parse", "--is-bare-repository"]), "true");
    }

    #[test]
    fn a_wild_repository_is_sound_and_checked_out_as_committed() {
        for seed in 0..5 {
            let repo = Tangle::wild(seed).make();
            repo.git(&["fsck", "--strict", "--no-dangling"]);
            let head = repo.git(&["rev-parse", "HEAD"]);
            assert_eq!(head, repo.base);
        }
    }

    #[test]
    fn tasks_touch_few_files_in_the_shares_asked_for() {
        let repo = Tangle::tasks(4, 1_000, 200).make();
        let mut kinds = [0, 0, 0];
        for branch in &repo.branches {
            let range = format!("{}..{branch}", repo.base);
            let log = repo.git(&["diff", "--no-renames", "--name-status", &range]);
            assert!((1..=12).contains(&log.lines().count()), "{log}");
            for line in log.lines() {
                kinds[usize::from(line.starts_with('A'))
                    + 2 * usize::from(line.starts_with('D'))] += 1;
            }
        }
        let [edits, adds, deletes] = kinds;
        assert!(
            edits > 5 * adds && adds > deletes && deletes > 5,
            "{kinds:?}"
        );
    }
}
