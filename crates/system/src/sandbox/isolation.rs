//! Decides what the programs in a worktree do not see: the network, sockets of other programs, keys among caches.
//!
//! What cannot be had is said. Knows nothing of how it is done.

use std::path::{Path, PathBuf};

use super::SandboxInput;
use super::folders::User;
use super::mounts;
use super::sockets::{self, OpenSockets};
use crate::process::{HiddenFiles, Network};
use pleach_domain::choice::NetworkChoice;

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
            let only =
                "network = \"none\" blocks only TCP: this system does not allow user namespaces";
            notes.push(only.to_owned());
            Network::WithoutTcp
        }
    }
}

/// What the configuration opens, as far as it is there.
pub(super) struct OpenedPaths<'o> {
    pub(super) write: &'o [PathBuf],
    pub(super) read: &'o [PathBuf],
    pub(super) network: NetworkChoice,
}

/// Sockets of other programs, and what is closed where programs make files of any name, but for what is open by name.
pub(super) fn hidden(
    input: &SandboxInput<'_>,
    user: &User<'_>,
    temporary: &Path,
    opened: &OpenedPaths<'_>,
) -> HiddenFiles {
    let mut open = vec![input.worktree.to_owned(), temporary.to_owned()];
    open.extend(input.read.iter().map(|path| (*path).to_owned()));
    open.extend_from_slice(opened.write);
    let mut sockets = sockets::of_owners(&input.state.batches());
    if opened.network == NetworkChoice::None {
        sockets.extend(sockets::of_system());
    }
    let is_open = |path: &PathBuf| opened.read.iter().any(|open| path.starts_with(open));
    let mut closed = Vec::new();
    for path in user.hidden().into_iter().filter(|path| !is_open(path)) {
        closed.extend(mounts::aliases(&path));
        closed.push(path);
    }
    let open = OpenSockets {
        named: &open,
        programs: &user.program_folders(),
    };
    sockets::hidden(user.home(), sockets, closed, &open)
}
