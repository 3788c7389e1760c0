//! Decides what the programs in a worktree do not see: the network, sockets of other programs, keys among caches.
//!
//! What cannot be had is said. Knows nothing of how it is done.

use std::path::{Path, PathBuf};

use super::folders::User;
use super::{Room, mounts, sockets};
use crate::config::NetworkChoice;
use crate::process::Network;

/// What a task is told where sockets of other programs cannot be hidden.
pub(super) const OPEN_SOCKETS: &str = "sockets of your other programs (ssh-agent, D-Bus, Docker …) are open to it: this \
                                       system allows no user namespaces";

/// Whom they reach over the network; whoever asked for none was told before if nothing could be done.
pub(super) fn network(
    choice: NetworkChoice,
    can_isolate: bool,
    notes: &mut Vec<String>,
) -> Network {
    match choice {
        NetworkChoice::Open => Network::Open,
        NetworkChoice::None if can_isolate => Network::Own,
        NetworkChoice::None => {
            let only = "network = \"none\" refuses TCP only: this system allows no user namespaces";
            notes.push(only.to_owned());
            Network::WithoutTcp
        }
    }
}

/// What the configuration opens, as far as it is there.
pub(super) struct Opened<'o> {
    pub(super) write: &'o [PathBuf],
    pub(super) read: &'o [PathBuf],
    pub(super) network: NetworkChoice,
}

/// Sockets of other programs, and what is closed where programs make files of any name, but for what is open by name.
pub(super) fn hidden(
    room: &Room<'_>,
    user: &User<'_>,
    temporary: &Path,
    opened: &Opened<'_>,
) -> Vec<PathBuf> {
    let mut open = vec![room.worktree.path().to_owned(), temporary.to_owned()];
    open.extend(room.read.iter().map(|path| (*path).to_owned()));
    open.extend_from_slice(opened.write);
    let mut besides = sockets::of_owners(&room.state.batches());
    let is_open = |path: &PathBuf| opened.read.iter().any(|open| path.starts_with(open));
    for path in user.hidden().into_iter().filter(|path| !is_open(path)) {
        besides.extend(mounts::aliases(&path));
        besides.push(path);
    }
    if opened.network == NetworkChoice::None {
        besides.extend(sockets::of_system());
    }
    sockets::hidden(user.home(), besides, &open)
}
