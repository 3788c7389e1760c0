//! Finds sockets of other programs in the file system: through some of them, an agent has those do what it may not.
//!
//! Knows nothing of how they are hidden.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::process::getuid;

use crate::ownership::SOCKET;
use crate::process::{SHARED_MEMORY, TERMINALS};

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
const LISTENS: &str = "00010000";

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
    let listening = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let listening = listening.lines().filter_map(listener);
    let is_of_system = |path: &PathBuf| path.starts_with("/run") || path.starts_with("/var");
    let is_lookup = |path: &PathBuf| LOOKUPS.iter().any(|lookup| path.starts_with(lookup));
    let found = listening.filter(|path| is_of_system(path) && !is_lookup(path));
    found.filter(|path| !is_database(path)).collect()
}

/// Everything that is hidden from a program of this user, but what is open to it by name, and whatever holds that.
pub(super) fn hidden(home: Option<&Path>, owners: Vec<PathBuf>, open: &[PathBuf]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = vec![SHARED_MEMORY.into(), TERMINALS.into()];
    let folders = folders_of_user();
    found.extend(owners);
    found.extend(SERVICES.map(PathBuf::from));
    let are_private = folders.iter().filter(|path| is_private(path));
    found.extend(are_private.cloned());
    let temporary = std::env::temp_dir();
    let mut owned: Vec<&Path> = vec![Path::new("/tmp"), &temporary];
    owned.extend(home);
    owned.extend(folders.iter().map(PathBuf::as_path));
    let listening = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let listening = listening.lines().filter_map(listener);
    found.extend(listening.filter(|path| {
        let is_owned = owned.iter().any(|owned| path.starts_with(owned));
        is_owned && !is_database(path)
    }));
    let mut hidden: Vec<PathBuf> = Vec::new();
    for path in found {
        let Ok(path) = path.canonicalize() else {
            continue;
        };
        let is_open = open
            .iter()
            .any(|open| open.starts_with(&path) || path.starts_with(open));
        let holds_home = home.is_some_and(|home| home.starts_with(&path));
        let is_hidden = hidden.iter().any(|hidden| path.starts_with(hidden));
        if !is_open && !is_hidden && !holds_home {
            hidden.push(path);
        }
    }
    hidden
}

/// Where programs of this user listen.
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

/// The path of a socket at which somebody listens.
fn listener(line: &str) -> Option<PathBuf> {
    let mut words = line.split_ascii_whitespace();
    let flags = words.nth(3)?;
    let path = line.split_once(" /").map(|(_, path)| format!("/{path}"))?;
    (flags == LISTENS).then(|| PathBuf::from(path))
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
        let found = hidden(Some(&home), Vec::new(), &[]);
        assert!(found.contains(&paths[0]), "{found:?}");
        assert!(!found.contains(&paths[1]), "{found:?}");
        for open in [&home, &folder, &paths[0]] {
            assert!(
                !hidden(Some(&home), Vec::new(), std::slice::from_ref(open)).contains(&paths[0])
            );
        }
        assert!(found.contains(&PathBuf::from(TERMINALS)));
        drop(listeners);
    }

    #[test]
    fn only_who_listens_at_a_path_is_found() {
        let line = |flags: &str, path: &str| {
            listener(&format!(
                "0000000000000000: 00000002 00000000 {flags} 0001 01 4711{path}"
            ))
        };
        assert_eq!(line(LISTENS, " /run/a b"), Some("/run/a b".into()));
        assert_eq!(line("00000000", " /run/a"), None);
        assert_eq!(line(LISTENS, " @abstract"), None);
        assert_eq!(line(LISTENS, ""), None);
    }
}
