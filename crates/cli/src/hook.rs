//! The program as a hook of a store: git calls it by a link that bears the hook's name.
//!
//! What is allowed is decided in the engine.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use pleach_engine::git::guard::{HOOK, judge};

use crate::output::tell_error;

/// Judges a change of refs if git calls for it; otherwise this is no hook.
pub(crate) fn run_if_called_as_one() -> Option<ExitCode> {
    let mut words = std::env::args_os();
    let name = words.next()?;
    if Path::new(&name).file_name()? != HOOK {
        return None;
    }
    let moment = words.next().unwrap_or_default();
    let git_dir = PathBuf::from(std::env::var_os("GIT_DIR").unwrap_or_default());
    // Git calls the folder that it stands in by a dot.
    let git_dir = git_dir.canonicalize().unwrap_or(git_dir);
    let mut updates = Vec::new();
    if let Err(error) = std::io::stdin().read_to_end(&mut updates) {
        tell_error(format_args!(
            "pleach: could not read what git asks: {error}\n"
        ));
        return Some(ExitCode::FAILURE);
    }
    let verdict = judge(
        &moment.to_string_lossy(),
        &git_dir,
        &String::from_utf8_lossy(&updates),
    );
    Some(match verdict {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => {
            tell_error(format_args!("{refusal}\n"));
            ExitCode::FAILURE
        }
    })
}
