//! A git repository in a temporary folder, with fixed identity and dates.
//!
//! Knows nothing of what a test wants to prove with it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// What `git init` writes, and a name: thousands of tests begin here, and files are made faster than gits are started.
const CONFIG: &str = "[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
[user]
\tname = Tess Tester
\temail = tess@example.com
";

/// A repository on branch `main` that no configuration of this machine reaches.
pub struct TestRepo {
    folder: TempDir,
    path: PathBuf,
}

impl Default for TestRepo {
    fn default() -> Self {
        Self::new()
    }
}

impl TestRepo {
    /// Makes a repository with one commit that holds `README.md`.
    pub fn new() -> Self {
        let repo = Self::empty();
        repo.write("README.md", "a test\n");
        repo.commit("first");
        repo
    }

    /// Makes a repository with branches `one`, `two` and `three`, all from `main` and of one file: the
    /// second collides with the first, the third has to be merged line by line.
    pub fn with_branches() -> Self {
        let repo = Self::new();
        repo.write("story.txt", "once\nupon\na\ntime\n");
        repo.commit("a story");
        for (branch, text) in [
            ("one", "ONCE\nupon\na\ntime\n"),
            ("two", "Once\nupon\na\ntime\n"),
            ("three", "once\nupon\na\nTIME\n"),
        ] {
            repo.git(&["switch", "--quiet", "--create", branch, "main"]);
            repo.write("story.txt", text);
            repo.commit(branch);
        }
        repo.git(&["switch", "--quiet", "main"]);
        repo
    }

    pub fn empty() -> Self {
        let folder = TempDir::new().expect("a temporary folder can be made");
        let path = folder
            .path()
            .canonicalize()
            .expect("the folder was just made")
            .join("project");
        make_repository(&path).expect("the folder is empty");
        Self { folder, path }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A place outside the working tree that goes away together with the repository.
    pub fn beside(&self, name: &str) -> PathBuf {
        let folder = self.folder.path().canonicalize();
        folder.expect("it lives as long as self").join(name)
    }

    /// Writes a file of the working tree, with the folders above it.
    pub fn write(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.path.join(name);
        let parent = path.parent().expect("a file is inside the working tree");
        fs::create_dir_all(parent).expect("folders can be made");
        fs::write(path, content).expect("the file can be written");
    }

    /// Commits everything in the working tree and returns the commit's id.
    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message]);
        self.head()
    }

    /// The id of the commit that is checked out.
    pub fn head(&self) -> String {
        let git = self.path.join(".git");
        let read = |name: &str| fs::read_to_string(git.join(name)).ok();
        let loose = read("HEAD").and_then(|head| read(head.strip_prefix("ref: ")?.trim_end()));
        match loose {
            Some(id) => id.trim_end().to_owned(),
            None => self.git(&["rev-parse", "HEAD"]),
        }
    }

    /// Creates a branch here and switches to it.
    pub fn branch(&self, name: &str) {
        self.git(&["switch", "--quiet", "--create", name]);
    }

    /// Runs git in the working tree and returns what it printed, without the last line break.
    #[track_caller]
    pub fn git(&self, args: &[&str]) -> String {
        self.git_in(&self.path, args)
    }

    /// Runs git in another folder, with the same hermetic environment.
    #[track_caller]
    pub fn git_in(&self, folder: &Path, args: &[&str]) -> String {
        let output = self.attempt(folder, args);
        assert!(
            output.status.success(),
            "git {args:?} failed: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.strip_suffix('\n').map(str::to_owned).unwrap_or(text)
    }

    /// Runs git in a folder and says whether it succeeded.
    pub fn git_succeeds(&self, folder: &Path, args: &[&str]) -> bool {
        self.attempt(folder, args).status.success()
    }

    /// Runs git in a folder, where it must fail, and returns what it complained about.
    #[track_caller]
    pub fn git_fails(&self, folder: &Path, args: &[&str]) -> String {
        let output = self.attempt(folder, args);
        assert!(!output.status.success(), "git {args:?} did not fail");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    fn attempt(&self, folder: &Path, args: &[impl AsRef<OsStr>]) -> Output {
        let path = std::env::var_os("PATH").unwrap_or_default();
        Command::new("git")
            .args(args)
            .current_dir(folder)
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.folder.path())
            .env("LC_ALL", "C")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            // Each commit starts two more gits otherwise, to find that nothing is to be packed.
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "maintenance.auto")
            .env("GIT_CONFIG_VALUE_0", "false")
            .env("GIT_AUTHOR_NAME", "Tess Tester")
            .env("GIT_AUTHOR_EMAIL", "tess@example.com")
            .env("GIT_AUTHOR_DATE", "2024-01-01T00:00:00Z")
            .env("GIT_COMMITTER_NAME", "Tess Tester")
            .env("GIT_COMMITTER_EMAIL", "tess@example.com")
            .env("GIT_COMMITTER_DATE", "2024-01-01T00:00:00Z")
            .output()
            .expect("git is installed")
    }
}

fn make_repository(path: &Path) -> std::io::Result<()> {
    let git = path.join(".git");
    for folder in [
        "branches",
        "hooks",
        "info",
        "objects/info",
        "objects/pack",
        "refs/heads",
        "refs/tags",
    ] {
        fs::create_dir_all(git.join(folder))?;
    }
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n")?;
    fs::write(git.join("config"), CONFIG)
}
