//! `pleach git-credential`: hands git the login that the engine found; git calls it.
//!
//! What is given to whom is decided in the engine.

use std::io::Read as _;

use pleach_git::git::answer_git;

use crate::failure::Exit;
use crate::output::{tell, tell_error};

pub(crate) fn run(operation: &str) -> Exit {
    let mut asked = String::new();
    let answer = std::io::stdin()
        .read_to_string(&mut asked)
        .and_then(|_| answer_git(operation, &asked, &|name| std::env::var(name).ok()));
    match answer {
        Ok(answer) => {
            tell(format_args!("{answer}"));
            Exit::Success
        }
        Err(error) => {
            tell_error(format_args!("pleach: could not answer git: {error}\n"));
            Exit::Environment
        }
    }
}
