//! What holds programs that are only asked something, such as their version.
//!
//! Knows nothing of what they are asked.

use std::ffi::OsString;
use std::path::Path;

use super::folders::User;
use super::sockets::{self, OpenSockets};
use super::{Confinement, folders};
use crate::process::{Isolation, TERMINALS, can_isolate, is_available, refusable_calls};
use crate::state_folder::StateFolder;

/// What holds a program that is only asked something: it reads all but keys, writes to one folder, and reaches no
/// socket of other programs.
#[derive(Debug)]
pub struct ProbeSandbox {
    pub confinement: Option<Confinement>,
    pub isolation: Isolation,
}

impl ProbeSandbox {
    /// Nothing where nobody knows what is Pleach's own, and so has to stay closed; `wrapper` is our own program.
    pub fn new(env: &[(OsString, OsString)], folder: &Path, wrapper: &Path) -> Option<Self> {
        let state = StateFolder::imagined().ok()?;
        // One that does not exist has nothing to close.
        let resolved = state.path().canonicalize();
        let user = User::at(env, resolved.as_deref().unwrap_or(state.path()), Vec::new());
        let mut write = folders::devices();
        write.push(folder.to_owned());
        let mut isolation = Isolation {
            calls: refusable_calls(),
            ..Isolation::default()
        };
        if can_isolate(wrapper) {
            write.push(TERMINALS.into());
            let open = OpenSockets {
                named: &[folder.to_owned()],
                programs: &user.program_folders(),
            };
            let owners = sockets::of_owners(&state.batches());
            isolation.hidden = Some(sockets::hidden(user.home(), owners, Vec::new(), &open));
        }
        let read = folders::without_devices(user.readable());
        Some(Self {
            confinement: is_available().then_some(Confinement { write, read }),
            isolation,
        })
    }
}
