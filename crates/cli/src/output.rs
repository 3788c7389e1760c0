//! Writes to standard output, with colours where they are wanted.
//!
//! Knows what to do when nobody reads any more; nothing of what is written.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write as _};

use pleach_system::text::hidden::{is_hidden, push_visible, visible};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    Person,
    Program,
}

impl Reader {
    pub(crate) fn from_flag(json: bool) -> Self {
        if json { Self::Program } else { Self::Person }
    }
}

/// Prints the answer of a command; a reader that has gone away has seen enough.
pub(crate) fn print(text: Arguments<'_>) {
    let mut output = anstream::stdout();
    let written = output.write_fmt(text).and_then(|()| output.flush());
    match written {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => {
            tell_error(format_args!("error: could not write the output: {error}\n"));
            std::process::exit(3);
        }
    }
}

/// Prints a line of something that goes on whether or not anybody reads.
pub(crate) fn tell(text: Arguments<'_>) {
    let mut output = anstream::stdout();
    let _ = output.write_fmt(text).and_then(|()| output.flush());
}

/// Prints to standard error, if anybody reads it.
pub(crate) fn tell_error(text: Arguments<'_>) {
    let _ = anstream::stderr().write_fmt(text);
}

/// The text on one line, without control characters and non-characters; what else would not be seen is marked.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_whitespace() || c.is_control() {
            if !line.is_empty() && !line.ends_with(' ') {
                line.push(' ');
            }
        } else if !is_noncharacter(c) {
            line.push(c);
        }
    }
    line.truncate(line.trim_end().len());
    if !line.contains(is_hidden) {
        return line;
    }
    let mut visible = String::with_capacity(line.len());
    push_visible(&line, None, None, &mut visible);
    visible
}

/// One line of a text with all its spaces; what a terminal would act on or nobody would see is marked.
pub(crate) fn exact_line(line: &str) -> String {
    visible(line).replace('\t', "    ").replace('\n', " ")
}

fn is_noncharacter(c: char) -> bool {
    matches!(c, '\u{fdd0}'..='\u{fdef}') || u32::from(c) & 0xfffe == 0xfffe
}
