//! What git, and whatever else we start ourselves, may read and write: what the call names, and what it cannot do without.
//!
//! Agents write to folders that our git works in. A link that one of them plants there leads git nowhere: the kernel
//! keeps it within these bounds, whatever holds the agents. Knows nothing of what is called.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pleach_system::process::{Confinement, holds_our_own, restrict_files};
use pleach_system::sandbox::keys_but;
use pleach_system::state_folder::StateFolder;

/// What may be read besides what a call names; each reaches further than the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ReadScope {
    /// Programs and what they are made of; nothing of the home folder.
    System,
    /// The user's settings, wherever they are: all that agents may read as well.
    Settings,
    /// Logins too, as far as git, ssh and their helpers use them, which also write to some places of their own.
    Servers,
}

/// Keys that git, ssh, credential helpers and the tools of forges log in with.
const LOGINS: [&str; 26] = [
    ".authinfo",
    ".authinfo.gpg",
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".config/glab-cli",
    ".config/gopass",
    ".config/hub",
    ".config/op",
    ".config/putty",
    ".config/rbw",
    ".config/tea",
    ".git-credentials",
    ".gnupg",
    ".local/share/gopass",
    ".local/share/keyrings",
    ".lpass",
    ".netrc",
    ".password-store",
    ".pki",
    ".putty",
    ".ssh",
    ".step",
    ".tsh",
];

/// What these write to in the home folder, where it is there; nothing of it is run by itself.
const NOTES_OF_LOGINS: [&str; 7] = [
    ".cache",
    ".config/gh",
    ".config/glab-cli",
    ".git-credential-cache",
    ".gnupg",
    ".local/state/gh",
    ".ssh/known_hosts",
];

/// What is no part of any program at the top of the file system. A link there could lead git to its own environment, to
/// sockets' neighbours, or to what others left for a while.
const NO_PROGRAMS: [&str; 11] = [
    "/boot",
    "/dev",
    "/lost+found",
    "/media",
    "/mnt",
    "/proc",
    "/run",
    "/srv",
    "/sys",
    "/tmp",
    "/var",
];

/// What git needs of these: random numbers, and how many threads are worth it.
const NEEDED: [&str; 2] = ["/dev/urandom", "/sys/devices/system/cpu"];

/// A folder that changed less than this before it was read may change again without looking younger.
const BEYOND_DOUBT: Duration = Duration::from_millis(100);

/// What was found readable, by reach, until one of the folders changes that it was found in.
static KNOWN: Mutex<BTreeMap<ReadScope, Readable>> = Mutex::new(BTreeMap::new());

#[derive(Debug, Clone)]
pub(super) struct Bounds {
    reach: ReadScope,
    named: Confinement,
}

impl Bounds {
    pub(super) fn new(reach: ReadScope) -> Self {
        let named = Confinement {
            write: vec!["/dev/null".into()],
            read: Vec::new(),
        };
        Self { reach, named }
    }

    pub(super) fn widen(&mut self, reach: ReadScope) {
        self.reach = self.reach.max(reach);
    }

    /// Whether it logs in nowhere, and so needs none of what the user's environment holds for that.
    pub(super) fn is_local(&self) -> bool {
        self.reach < ReadScope::Servers
    }

    pub(super) fn read(&mut self, path: &Path) {
        self.named.read.push(path.to_owned());
    }

    pub(super) fn write(&mut self, path: &Path) {
        self.named.write.push(path.to_owned());
    }

    /// Starts a program within these bounds, or without any where the kernel has none.
    pub(super) fn spawn(self, command: &mut Command) -> io::Result<Child> {
        if !holds_our_own() {
            return command.spawn();
        }
        let bounds = self.confinement();
        // On a thread of its own, for whoever is held stays so.
        thread::scope(|scope| {
            let spawn = || {
                restrict_files(&bounds).map_err(io::Error::other)?;
                command.spawn()
            };
            let thread = thread::Builder::new().name("git".to_owned());
            let thread = thread.spawn_scoped(scope, spawn)?;
            let broken = |_| Err(io::Error::other("starting it panicked"));
            thread.join().unwrap_or_else(broken)
        })
    }

    fn confinement(self) -> Confinement {
        let Confinement {
            mut write,
            mut read,
        } = self.named;
        read.extend(readable(self.reach));
        if self.reach == ReadScope::Servers {
            write.push("/dev/tty".into());
            write.extend(security_keys());
            write.extend(temporary_files());
            let home = home();
            write.extend(
                home.iter()
                    .flat_map(|home| NOTES_OF_LOGINS.map(|notes| home.join(notes))),
            );
            let cache = std::env::var_os("XDG_CACHE_HOME");
            write.extend(cache.map(PathBuf::from));
        }
        Confinement { write, read }
    }
}

/// The devices that ssh asks for a signature, where the private key is on one.
fn security_keys() -> impl Iterator<Item = PathBuf> {
    let devices = fs::read_dir("/dev").into_iter().flatten().flatten();
    let is_one = |name: &OsStr| name.as_encoded_bytes().starts_with(b"hidraw");
    let found = devices.filter(move |device| is_one(&device.file_name()));
    found.map(|device| device.path())
}

pub(super) fn temporary_files() -> Option<PathBuf> {
    std::env::temp_dir().canonicalize().ok()
}

/// How far a program has to reach to read itself and what it is made of.
pub(super) fn least_reach(program: &Path) -> ReadScope {
    let open = readable(ReadScope::System);
    let is_there = |path: &Path| open.iter().any(|open| path.starts_with(open));
    match program.canonicalize() {
        Ok(real) if is_there(&real) => ReadScope::System,
        _ => ReadScope::Settings,
    }
}

fn home() -> Option<PathBuf> {
    named_home()?.canonicalize().ok()
}

fn state() -> Option<PathBuf> {
    let named = named_state()?;
    Some(named.canonicalize().unwrap_or(named))
}

fn named_state() -> Option<PathBuf> {
    let state = StateFolder::imagined().ok()?;
    Some(state.path().to_owned())
}

fn named_home() -> Option<PathBuf> {
    let named = std::env::var_os("HOME").map(PathBuf::from);
    named.filter(|home| home.is_absolute())
}

#[derive(Debug)]
struct Readable {
    paths: Vec<PathBuf>,
    /// The folders that were divided, and how they were.
    seen: Vec<(PathBuf, Option<FolderStamp>)>,
    own: OwnFolders,
}

/// Where the user's home folder and ours really are.
#[derive(Debug, PartialEq, Eq)]
struct OwnFolders {
    home: Option<PathBuf>,
    state: Option<PathBuf>,
}

/// What differs once something came into a folder or went: device, number and date.
type FolderStamp = (u64, u64, i64, i64);

fn readable(reach: ReadScope) -> Vec<PathBuf> {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = known.get(&reach).filter(|known| known.is_valid()) {
        return found.paths.clone();
    }
    let found = Readable::look(reach);
    let paths = found.paths.clone();
    if found.is_settled() {
        known.insert(reach, found);
    }
    paths
}

/// The folder at the top of the file system that a path is in.
fn top_folder(path: &Path) -> Option<PathBuf> {
    let mut above = path.ancestors();
    let top = above.find(|above| above.parent() == Some(Path::new("/")));
    top.map(Path::to_owned)
}

impl Readable {
    fn look(reach: ReadScope) -> Self {
        let open: &[&str] = match reach {
            ReadScope::System | ReadScope::Settings => &[],
            ReadScope::Servers => &LOGINS,
        };
        let own = OwnFolders::find();
        let mut closed = keys_but(open);
        closed.extend(own.state.clone());
        let mut paths = Vec::new();
        if reach == ReadScope::System {
            closed.extend(own.paths().filter_map(top_folder));
            closed.extend(NO_PROGRAMS.map(PathBuf::from));
            paths.extend(NEEDED.map(PathBuf::from));
        }
        // Both may come to be, or change, by a name that is not the real one.
        let named = [named_home(), named_state()];
        let mut seen = HashSet::new();
        for path in named.iter().flatten() {
            note_all_above(Some(path), &mut seen);
        }
        for path in &closed {
            note_all_above(path.parent(), &mut seen);
        }
        if reach == ReadScope::System {
            // All of it is closed there, and others make files in it all the time: nothing depends on what else it holds.
            let holds_us = |path: &Path| {
                let home = [&own.home, &named[0]].into_iter().flatten();
                let state = [&own.state, &named[1]].into_iter().flatten();
                home.clone()
                    .any(|home| home != path && home.starts_with(path))
                    || state.clone().any(|state| state.starts_with(path))
            };
            seen.retain(|path| path.parent().is_none() || !holds_us(path));
        }
        // Before the look itself, which so is never newer than it seems.
        let seen = seen.iter().map(|path| (path.to_path_buf(), stamp(path)));
        let seen = seen.collect();
        let closed: Vec<&Path> = closed.iter().map(PathBuf::as_path).collect();
        open_around(Path::new("/"), &closed, &mut paths);
        Self { paths, seen, own }
    }

    fn is_valid(&self) -> bool {
        self.own == OwnFolders::find() && self.seen.iter().all(|(path, was)| stamp(path) == *was)
    }

    fn is_settled(&self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let before = now.unwrap_or_default().saturating_sub(BEYOND_DOUBT);
        let is_old = |(_, _, seconds, nanoseconds): FolderStamp| {
            let whole = i64::try_from(before.as_secs()).unwrap_or(i64::MAX);
            (seconds, nanoseconds) < (whole, i64::from(before.subsec_nanos()))
        };
        self.seen.iter().all(|(_, stamp)| stamp.is_none_or(is_old))
    }
}

impl OwnFolders {
    fn find() -> Self {
        Self {
            home: home(),
            state: state(),
        }
    }

    fn paths(&self) -> impl Iterator<Item = &Path> {
        [&self.home, &self.state]
            .into_iter()
            .flatten()
            .map(PathBuf::as_path)
    }
}

/// Notes a folder with all above it; above one that was noted, all are.
fn note_all_above<'p>(folder: Option<&'p Path>, noted: &mut HashSet<&'p Path>) {
    let mut folder = folder;
    while let Some(path) = folder.filter(|path| noted.insert(path)) {
        folder = path.parent();
    }
}

/// Opens what is in a folder, one by one, around what is closed somewhere below; links lead to what is found at its own
/// place.
fn open_around(folder: &Path, closed: &[&Path], found: &mut Vec<PathBuf>) {
    let mut by_name: HashMap<&OsStr, Vec<&Path>> = HashMap::new();
    for path in closed {
        let rest = path.strip_prefix(folder).unwrap_or(path);
        if let Some(name) = rest.iter().next() {
            by_name.entry(name).or_default().push(path);
        }
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        let path = entry.path();
        match by_name.get(&*entry.file_name()) {
            _ if kind.is_symlink() => {}
            None => found.push(path),
            Some(closed) if closed.contains(&path.as_path()) => {}
            Some(closed) => open_around(&path, closed, found),
        }
    }
}

fn stamp(folder: &Path) -> Option<FolderStamp> {
    let meta = folder.metadata().ok()?;
    Some((meta.dev(), meta.ino(), meta.ctime(), meta.ctime_nsec()))
}

#[cfg(test)]
mod tests;
