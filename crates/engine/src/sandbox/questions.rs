//! What holds programs that are only asked something, such as their version.
//!
//! Knows nothing of what they are asked.

use std::ffi::OsString;
use std::path::Path;

use super::folders::User;
use super::{Confinement, folders};
use crate::process::is_available;
use crate::state_folder::StateFolder;

/// What holds a program that is only asked something: it reads all but keys, and writes to one folder.
pub(crate) fn confinement_of_questions(
    env: &[(OsString, OsString)],
    folder: &Path,
) -> Option<Confinement> {
    let state = StateFolder::imagined().ok()?;
    let user = User::at(env, state.path(), Vec::new());
    let mut write = folders::devices();
    write.push(folder.to_owned());
    let read = folders::without_devices(user.readable());
    is_available().then_some(Confinement { write, read })
}
