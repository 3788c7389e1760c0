//! Finds sockets of other programs in the file system: through some of them, an agent has those do what it may not.
//!
//! Knows nothing of how they are hidden.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _};
use std::path::{Component, Path, PathBuf};

use rustix::process::getuid;

use crate::process::{HiddenFiles, SHARED_MEMORY, TERMINALS};
use crate::state_folder::SOCKET;

/// Where services of the system listen that do what they are told: containers, machines, sessions, packages, messages.
const SERVICES: [&str; 16] = [
    "/run/containerd",
    "/run/crio",
    "/run/dbus",
    "/run/docker",
    "/run/docker.sock",
    "/run/incus",
    "/run/libvirt",
    "/run/lxd",
    "/run/podman",
    "/run/screen",
    "/run/snapd-snap.socket",
    "/run/snapd.socket",
    "/tmp/.ICE-unix",
    "/tmp/.X11-unix",
    "/var/lib/lxd/unix.socket",
    "/var/snap/lxd/common/lxd/unix.socket",
];

/// Databases, which tests talk to, by how the names of their sockets begin.
const DATABASES: [&str; 3] = [".s.PGSQL.", "mysql", "redis"];

/// What says in `/proc/net/unix` that somebody listens.
const LISTENS: &[u8] = b"00010000";

const WORDS_BEFORE_PATH: usize = 7;

/// Where owners of batches listen, who got their names after they began to.
pub(super) fn of_owners(batches: &Path) -> Vec<PathBuf> {
    let batches = fs::read_dir(batches).into_iter().flatten().flatten();
    let sockets = batches.map(|batch| batch.path().join(SOCKET));
    sockets.filter(|socket| socket.exists()).collect()
}

/// Where names of users are looked up, which stays possible without a network.
const LOOKUPS: [&str; 2] = ["/run/systemd/userdb", "/var/lib/sss/pipes"];

/// Where services of the system listen that may pass something on over the network, such as a name to look up.
pub(super) fn of_system() -> Vec<PathBuf> {
    let is_of_system = |path: &PathBuf| path.starts_with("/run") || path.starts_with("/var");
    let is_lookup = |path: &PathBuf| LOOKUPS.iter().any(|lookup| path.starts_with(lookup));
    let mut found = listeners();
    found.retain(|path| is_of_system(path) && !is_lookup(path));
    found
}

pub(super) struct OpenSockets<'o> {
    /// By name: neither hidden itself, nor whatever holds it.
    pub(super) named: &'o [PathBuf],
    /// Folders of programs, which are still found in what is hidden.
    pub(super) programs: &'o [PathBuf],
}

/// Everything that is hidden from a program of this user: sockets of others, some besides, and what is closed.
pub(super) fn hidden(
    home: Option<&Path>,
    besides: Vec<PathBuf>,
    closed: Vec<PathBuf>,
    open: &OpenSockets<'_>,
) -> HiddenFiles {
    let is_hidden = |path: &PathBuf| {
        let is_open = |open: &PathBuf| open.starts_with(path) || path.starts_with(open);
        let holds_home = home.is_some_and(|home| home.starts_with(path));
        !holds_home && !open.named.iter().any(is_open)
    };
    let of_user = folders_of_user();
    let mut known: Vec<PathBuf> = vec![SHARED_MEMORY.into(), TERMINALS.into()];
    known.extend(SERVICES.map(PathBuf::from));
    known.extend(of_user.iter().filter(|path| is_private(path)).cloned());
    known.extend(closed);
    let known = known.into_iter().flat_map(|path| path.canonicalize());
    let (folders, others): (Vec<_>, Vec<_>) =
        known.filter(is_hidden).partition(|path| path.is_dir());
    let (mut sockets, files): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|path| is_socket(path));
    sockets.extend(besides.into_iter().flat_map(|path| path.canonicalize()));
    sockets.extend(listening(home, of_user).into_iter().filter(is_hidden));
    let kept = kept(open.programs, &folders);
    sockets.retain(|path| {
        let is_kept = kept.iter().any(|kept| path.starts_with(kept));
        is_kept || !folders.iter().any(|folder| path.starts_with(folder))
    });
    HiddenFiles {
        folders,
        sockets,
        files,
        kept,
    }
}

/// Sockets at which somebody listens, where programs of a user do.
fn listening(home: Option<&Path>, of_user: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut owned = of_user;
    owned.extend([PathBuf::from("/tmp"), std::env::temp_dir()]);
    owned.extend(home.map(Path::to_owned));
    let owned = owned.into_iter().flat_map(|path| path.canonicalize());
    let owned: Vec<PathBuf> = owned.collect();
    let mut found = listeners();
    found.retain(|path| owned.iter().any(|owned| path.starts_with(owned)));
    found
}

/// Sockets at which somebody listens, but databases.
///
/// Agents choose the names of theirs as they like, so a name proves nothing: there must be a socket.
fn listeners() -> Vec<PathBuf> {
    // Names of sockets are bytes, and one that is no text must not keep the others from being read.
    let list = fs::read("/proc/net/unix").unwrap_or_default();
    let named = list.split(|byte| *byte == b'\n').filter_map(listener);
    let real = named.filter_map(|path| {
        let folder = path.parent()?.canonicalize().ok()?;
        Some(folder.join(path.file_name()?))
    });
    real.filter(|path| !is_database(path) && is_socket(path))
        .collect()
}

fn is_socket(path: &Path) -> bool {
    let found = path.symlink_metadata();
    found.is_ok_and(|found| found.file_type().is_socket())
}

/// Folders of programs that are in hidden ones.
fn kept(programs: &[PathBuf], folders: &[PathBuf]) -> Vec<PathBuf> {
    let inside_hidden = |program: &PathBuf| {
        program.ancestors().find_map(|above| {
            let real = above.canonicalize().ok()?;
            let inside = program.strip_prefix(above).ok()?;
            let mut parts = inside.components();
            let is_plain = parts.all(|part| matches!(part, Component::Normal(_)));
            (is_plain && folders.contains(&real)).then(|| real.join(inside))
        })
    };
    programs.iter().filter_map(inside_hidden).collect()
}

fn folders_of_user() -> Vec<PathBuf> {
    let user = getuid().as_raw();
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let terminals = set("TMUX_TMPDIR").unwrap_or("/tmp".into());
    let terminals = terminals.join(format!("tmux-{user}"));
    // Made as tmux would, so that one which is started later is hidden as well.
    let _ = DirBuilder::new().mode(0o700).create(&terminals);
    let named = [
        format!("/run/user/{user}"),
        format!("/tmp/emacs{user}"),
        format!("/tmp/tmux-{user}"),
    ];
    let mut found: Vec<PathBuf> = named.map(PathBuf::from).to_vec();
    found.push(terminals);
    found.extend(set("XDG_RUNTIME_DIR"));
    found.extend(set("SSH_AUTH_SOCK"));
    found.extend(set("HOME").map(|home| home.join(".ssh/agent")));
    found.retain(|path| path.is_absolute());
    found
}

/// The part of a mode that says what others may do.
const OF_OTHERS: u32 = 0o077;

/// Whether nobody else may look into it; a folder that others use too is not hidden as a whole, whatever names it.
fn is_private(path: &Path) -> bool {
    let found = path.metadata();
    found.is_ok_and(|found| !found.is_dir() || found.mode() & OF_OTHERS == 0)
}

/// The path of a socket at which somebody listens: what follows seven words, however many blanks are in it.
fn listener(line: &[u8]) -> Option<PathBuf> {
    let (mut rest, mut words) = (line, Vec::new());
    while words.len() < WORDS_BEFORE_PATH {
        rest = rest.trim_ascii_start();
        let length = rest.iter().position(|byte| *byte == b' ')?;
        words.push(&rest[..length]);
        rest = &rest[length + 1..];
    }
    let path = Path::new(OsStr::from_bytes(rest));
    (words[3] == LISTENS && path.is_absolute()).then(|| path.to_owned())
}

fn is_database(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| DATABASES.iter().any(|database| name.starts_with(database)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn sockets_of_the_user_are_hidden_unless_they_are_open_by_name() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let folder = home.join("a folder");
        fs::create_dir(&folder).unwrap();
        let paths = ["agent", ".s.PGSQL.5432"].map(|name| folder.join(name));
        let listeners = paths
            .each_ref()
            .map(|path| UnixListener::bind(path).unwrap());
        let find = |named: &[PathBuf]| {
            let programs = &[];
            hidden(
                Some(&home),
                Vec::new(),
                Vec::new(),
                &OpenSockets { named, programs },
            )
        };
        let found = find(&[]);
        assert!(found.sockets.contains(&paths[0]), "{found:?}");
        assert!(!found.sockets.contains(&paths[1]), "{found:?}");
        for open in [&home, &folder, &paths[0]] {
            let found = find(std::slice::from_ref(open));
            assert!(!found.sockets.contains(&paths[0]));
        }
        assert!(found.folders.contains(&PathBuf::from(TERMINALS)));
        drop(listeners);
        fs::remove_file(&paths[0]).unwrap();
        assert!(!find(&[]).sockets.contains(&paths[0]));
    }

    #[test]
    fn only_who_listens_at_a_path_is_found() {
        let line = |flags: &str, path: &str| {
            listener(
                format!("0000000000000000: 00000002 00000000 {flags} 0001 01   471{path}")
                    .as_bytes(),
            )
        };
        let listens = "00010000";
        assert_eq!(line(listens, " /run/a b"), Some("/run/a b".into()));
        assert_eq!(line("00000000", " /run/a"), None);
        for other in [" @abstract", " relative", " a /run/b", ""] {
            assert_eq!(line(listens, other), None);
        }
    }
}
