//! Decides what the programs in a worktree do not see: the network, and sockets of other programs.
//!
//! What cannot be had is said. Knows nothing of how it is done.

use std::path::Path;

use super::Room;
use super::folders::User;
use super::sockets::{self, Open};
use crate::config::NetworkChoice;
use crate::process::{Hidden, Network};
use crate::run::Text;

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

/// Sockets of other programs, but for what is open by name.
pub(super) fn hidden(room: &Room<'_>, user: &User<'_>, temporary: &Path, write: &[Text]) -> Hidden {
    let mut open = vec![room.worktree.path().to_owned(), temporary.to_owned()];
    open.extend(room.read.iter().map(|path| (*path).to_owned()));
    let named = write.iter();
    open.extend(named.filter_map(|Text(path)| path.canonicalize().ok()));
    let owners = sockets::of_owners(&room.state.batches());
    let open = Open {
        named: &open,
        programs: &user.program_folders(),
    };
    sockets::hidden(user.home(), owners, &open)
}
