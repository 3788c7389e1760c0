//! Tells an error together with what caused it.

use std::error::Error;
use std::fmt::Write as _;

/// The message of an error and of all its causes, in one line.
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        // Some errors repeat their cause, some leave it to the reader.
        if !text.ends_with(&cause_text) {
            write!(text, ": {cause_text}").expect("writing to a string works");
        }
        source = cause.source();
    }
    text
}
