//! Finds in what a program printed which paths the sandbox refused it.
//!
//! The kernel tells nobody else. A path counts if it stands near the words of a refusal, the sandbox has it
//! closed, and the user could have done it.

use std::os::unix::fs::FileTypeExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Access, access};

use super::Confinement;
use crate::process::HiddenFiles;

/// How systems and languages say that something was refused, in small letters.
const WORDS: [&str; 6] = [
    "permission denied",
    "operation not permitted",
    "read-only file system",
    "eacces",
    "permissionerror",
    "os error 13",
];

/// How managers of packages say that a server wants to know who asks, in small letters. Some servers hide
/// what is private from strangers.
const WANTS_LOGIN: [&str; 17] = [
    "401 error, credentials not correct",
    "authentication is required for",
    "code e401",
    "code e404",
    "could not authenticate against",
    "could not read password for",
    "could not read username for",
    "eneedauth",
    "err_pnpm_fetch_401",
    "err_pnpm_fetch_404",
    "got 401",
    "http status client error (401 unauthorized)",
    "no token found, please run `cargo login`",
    "please run `npm login`",
    "status code 401",
    "status code: 401",
    "yn0041",
];

/// How programs say that nobody listens at a socket, in small letters.
const UNHEARD: [&str; 6] = [
    "cannot connect to",
    "connection refused",
    "could not connect to",
    "econnrefused",
    "failed to connect to",
    "no such file or directory",
];

/// How far from the words of a refusal its path may stand: so many lines above and below.
const ABOVE: usize = 4;
const BELOW: usize = 2;

/// Nobody reads more than this.
const MOST: usize = 5;

pub(super) struct RefusalContext<'a> {
    pub(super) confinement: &'a Confinement,
    pub(super) word: &'a str,
    pub(super) keys: &'a [PathBuf],
    pub(super) logins: &'a [PathBuf],
    pub(super) hidden: Option<&'a HiddenFiles>,
    pub(super) ours: &'a Path,
    pub(super) folder: &'a Path,
}

impl RefusalContext<'_> {
    pub(super) fn refusals(&self, output: &[u8]) -> Vec<String> {
        let output = String::from_utf8_lossy(output);
        let lines: Vec<&str> = output.lines().collect();
        let mut told = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            let line = line.to_lowercase();
            if WANTS_LOGIN.iter().any(|word| line.contains(word)) {
                let closed = self.closed_logins();
                told.extend(closed.filter(|closed| !told.contains(closed)));
            }
            let found = |find: fn(&Self, &str) -> Option<String>| {
                around(&lines, at).find_map(|line| {
                    let mut paths = paths_in(line).into_iter();
                    paths.find_map(|path| find(self, &path))
                })
            };
            let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
            let refused = has(&WORDS).then(|| found(Self::refusal));
            let unheard = has(&UNHEARD).then(|| found(Self::hidden_socket));
            for refused in [refused, unheard].into_iter().flatten().flatten() {
                if !told.contains(&refused) {
                    told.push(refused);
                }
            }
        }
        told.truncate(MOST);
        told
    }

    fn refusal(&self, path: &str) -> Option<String> {
        let path = self.resolved(path)?;
        if self.confinement.lets_write(&path) || !is_possible(&path) {
            return None;
        }
        let (word, shown) = (self.word, path.display());
        let is_key = self.keys.iter().any(|keys| path.starts_with(keys));
        Some(if path.starts_with(self.ours) {
            format!("the sandbox ({word}) refused to open {shown}, which is Pleach's own")
        } else if is_key && !self.confinement.lets_read(&path) {
            format!(
                "the sandbox ({word}) refused to open {shown}, because keys are kept there; add it to sandbox_read if \
                 agents may read it"
            )
        } else {
            format!("the sandbox ({word}) refused to write {shown}; add it to sandbox_write")
        })
    }

    /// A socket at which somebody listens, and of which the program saw nothing.
    fn hidden_socket(&self, path: &str) -> Option<String> {
        let path = self.resolved(path.strip_prefix("unix://").unwrap_or(path))?;
        let hidden = self.hidden?;
        let mut places = hidden.folders.iter().chain(&hidden.sockets);
        let is_hidden = places.any(|place| path.starts_with(place));
        let found = path.symlink_metadata();
        let is_socket = found.is_ok_and(|found| found.file_type().is_socket());
        (is_hidden && is_socket && !path.starts_with(self.ours)).then(|| {
            format!(
                "the sandbox ({}) hides the socket {}; add it to sandbox_write if agents may use it",
                self.word,
                path.display()
            )
        })
    }

    /// What may be missing where a server wanted a login.
    fn closed_logins(&self) -> Option<String> {
        let is_closed = |login: &&PathBuf| !self.confinement.lets_read(login);
        let closed = self.logins.iter().filter(is_closed);
        let closed: Vec<String> = closed.map(|path| path.display().to_string()).collect();
        (!closed.is_empty()).then(|| {
            format!(
                "a package registry asked for credentials, but the sandbox ({}) blocks {}; add what is needed to \
                 sandbox_read if agents may read it",
                self.word,
                closed.join(", ")
            )
        })
    }

    /// Where a path leads, as far as it exists.
    fn resolved(&self, path: &str) -> Option<PathBuf> {
        let path = match path.strip_prefix("~/") {
            Some(inside) => Path::new(&std::env::var_os("HOME")?).join(inside),
            None => self.folder.join(path),
        };
        let there = path.ancestors().find(|above| above.exists())?;
        let rest = path.strip_prefix(there).ok()?;
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        let there = there.canonicalize().ok()?;
        rest.components()
            .all(is_plain)
            .then(|| there.components().chain(rest.components()).collect())
    }
}

/// A line, then those above it from the nearest on, then those below.
fn around<'l>(lines: &'l [&'l str], at: usize) -> impl Iterator<Item = &'l str> {
    let above = lines[at.saturating_sub(ABOVE)..=at].iter().rev();
    let below = lines[at + 1..].iter().take(BELOW);
    above.chain(below).copied()
}

/// Whether the user could write or read there, so that nothing but the sandbox is in the way.
fn is_possible(path: &Path) -> bool {
    let there = path.ancestors().find(|above| above.exists());
    there.is_some_and(|there| access(there, Access::WRITE_OK).is_ok())
}

/// What looks like a path in a line: between quotes, then word by word from the end, for a line begins with who says it.
fn paths_in(line: &str) -> Vec<String> {
    let is_quote = |c: char| matches!(c, '\'' | '"' | '`' | '‘' | '’' | '“' | '”');
    let quoted = line.split(is_quote).skip(1).step_by(2);
    let is_between = |c: char| c.is_whitespace() || is_quote(c) || "()[]{}<>,;=\\|".contains(c);
    let words: Vec<&str> = line.split(is_between).collect();
    let plain = |text: &str| text.trim_end_matches([':', '.', '\\']).trim().to_owned();
    let mut paths: Vec<String> = Vec::new();
    for text in quoted.chain(words.into_iter().rev()).map(plain) {
        let is_path = ["/", "~/", "../", "./", "unix:///"]
            .iter()
            .any(|start| text.starts_with(start));
        if is_path && text.len() > 1 && !paths.contains(&text) {
            paths.push(text);
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use tempfile::TempDir;

    use super::*;

    fn place() -> TempDir {
        let place = tempfile::tempdir().unwrap();
        for folder in ["tree", "home/.ssh", "home/.cargo", "state/token", "run"] {
            std::fs::create_dir_all(place.path().join(folder)).unwrap();
        }
        std::os::unix::fs::symlink("../home", place.path().join("tree/link")).unwrap();
        place
    }

    /// What is told of an output in which `@` stands for the place; paths are shown from there.
    #[track_caller]
    fn check(output: &str, expected: &[&str]) {
        let place = place();
        let top = place.path().canonicalize().unwrap();
        let at = |inside: &str| top.join(inside);
        let confinement = Confinement {
            write: vec![at("tree"), "/dev/null".into()],
            read: vec![at("home/.pypirc")],
        };
        let hidden = HiddenFiles {
            folders: vec![at("run")],
            sockets: vec![at("home/docker.sock")],
            files: Vec::new(),
            kept: Vec::new(),
        };
        let _listeners = ["run/bus", "home/docker.sock", "home/other.sock"]
            .map(|name| UnixListener::bind(at(name)).unwrap());
        let look = RefusalContext {
            confinement: &confinement,
            word: "landlock",
            keys: &[at("home/.ssh"), at("home/.npmrc"), at("home/.pypirc")],
            logins: &[at("home/.npmrc"), at("home/.pypirc")],
            hidden: Some(&hidden),
            ours: &at("state"),
            folder: &at("tree"),
        };
        let output = output.replace('@', top.to_str().unwrap());
        let told: Vec<String> = look
            .refusals(output.as_bytes())
            .iter()
            .map(|line| line.replace(top.to_str().unwrap(), "@"))
            .collect();
        assert_eq!(told, expected, "{output}");
    }

    const CARGO: &str =
        "the sandbox (landlock) refused to write @/home/.cargo/lock; add it to sandbox_write";
    const FILE: &str =
        "the sandbox (landlock) refused to write @/home/file; add it to sandbox_write";
    const KEY: &str = "the sandbox (landlock) refused to open @/home/.ssh/id, because keys are kept there; add it to \
                       sandbox_read if agents may read it";

    #[test]
    fn the_words_of_many_programs_are_understood() {
        for output in [
            "sh: 1: cannot create @/home/file: Permission denied",
            "@/home/.cargo/sh: 1: cannot create @/home/file: Permission denied",
            "touch: cannot touch '@/home/file': Permission denied\nand then more",
            "PermissionError: [Errno 13] Permission denied: '@/home/file'",
            "npm error code EACCES\nnpm error syscall mkdir\nnpm error path @/home/file\nnpm error errno -13",
            "{\"type\":\"result\",\"text\":\"EACCES: permission denied, open '@/home/file'\"}",
            "{\"text\":\"bash: \\\"@/home/file\\\": Permission denied\"}",
            "open @/home/file: permission denied",
            "cp: cannot create regular file '../home/file': Permission denied",
            "sh: cannot create ./link/file: Permission denied",
        ] {
            check(output, &[FILE]);
        }
        check(
            "error: failed to open: @/home/.cargo/lock\n\nCaused by:\n  Permission denied (os error 13)",
            &[CARGO],
        );
        check("cat: @/home/.ssh/id: Permission denied", &[KEY]);
    }

    #[test]
    fn a_login_that_a_server_wanted_and_that_is_closed_is_told_once() {
        let login = "a package registry asked for credentials, but the sandbox (landlock) blocks @/home/.npmrc; add what \
                     is needed to sandbox_read if agents may read it";
        for output in [
            "npm error code E401\nnpm error Incorrect or missing password.\nnpm error code E401",
            "npm error code E404\nnpm error 404 Not Found - GET https://registry.npmjs.org/@acme%2fx",
            " ERR_PNPM_FETCH_401  GET https://npm.acme.com/x: Unauthorized - 401",
            "  failed to get successful HTTP response from `https://crates.acme.com/x`, got 401",
            "  Caused by: HTTP status client error (401 Unauthorized) for url (https://pip.acme.com/simple/x/)",
            "fatal: could not read Username for 'https://git.acme.com': terminal prompts disabled",
            "> Could not GET 'https://maven.acme.com/x'. Received status code 401 from server: Unauthorized",
        ] {
            check(output, &[login]);
        }
        check("API error: 401 Unauthorized", &[]);
    }

    #[test]
    fn a_socket_that_is_hidden_is_told_with_how_to_open_it() {
        let hides = |path: &str| {
            format!(
                "the sandbox (landlock) hides the socket @/{path}; add it to sandbox_write if agents may use it"
            )
        };
        for output in [
            "Cannot connect to the Docker daemon at unix://@/home/docker.sock. Is the docker daemon running?",
            "dial unix @/home/docker.sock: connect: connection refused",
            "Error: connect ECONNREFUSED @/home/docker.sock",
        ] {
            check(output, &[&hides("home/docker.sock")]);
        }
        check(
            "Failed to connect to bus at unix:path=@/run/bus: No such file or directory",
            &[&hides("run/bus")],
        );
        for output in [
            "connect to @/home/other.sock: connection refused",
            "cat: @/run/x: No such file or directory",
            "connect to 127.0.0.1 port 80: Connection refused",
        ] {
            check(output, &[]);
        }
    }

    #[test]
    fn what_was_opened_to_reading_is_refused_for_writing() {
        let refused =
            "the sandbox (landlock) refused to write @/home/.pypirc; add it to sandbox_write";
        check(
            "sh: cannot create @/home/.pypirc: Permission denied",
            &[refused],
        );
    }

    #[test]
    fn what_was_not_refused_by_the_sandbox_is_not_told() {
        for output in [
            "all is well in @/home/file",
            "sh: cannot create @/tree/closed: Permission denied",
            "Permission denied",
            "ssh: me@host: Permission denied (publickey).",
        ] {
            check(output, &[]);
        }
    }

    #[test]
    fn a_path_of_ours_is_told_without_advice_to_open_it_and_none_is_told_twice() {
        check(
            "x: @/state/token/a: Permission denied\nx: @/state/token/a: Permission denied",
            &["the sandbox (landlock) refused to open @/state/token/a, which is Pleach's own"],
        );
    }
}
