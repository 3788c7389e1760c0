//! `pleach diff`: what a batch or a task changed.

use std::io::{IsTerminal as _, Write as _};

use pleach_engine::patch::{Colour, PatchExtent, PatchOptions, Whitespace, patch};
use pleach_engine::stored_batch::StoredBatch;
use pleach_log::database::Database;
use pleach_system::state_folder::StateFolder;

use super::status::find_batch;
use crate::args::DiffArgs;
use crate::columns::terminal_width;
use crate::failure::{Exit, Failures};
use crate::pager;
use crate::sanitize::TerminalSanitizer;

/// What git takes where there is no terminal.
const COLUMNS: usize = 80;

pub(crate) fn run(arguments: &DiffArgs) -> Result<Exit, Failures> {
    let state = StateFolder::of_user()?;
    let id = find_batch(&state, arguments.batch)?;
    let stored = StoredBatch::load(&Database::open(&state)?, id)?;
    let on_terminal = std::io::stdout().is_terminal();
    let in_colour =
        anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never;
    let colour = if in_colour {
        Colour::Always
    } else {
        Colour::Never
    };
    let extent = if arguments.stat {
        PatchExtent::Files(terminal_width().unwrap_or(COLUMNS))
    } else {
        PatchExtent::Lines
    };
    let whitespace = if arguments.ignore_whitespace {
        Whitespace::Ignore
    } else {
        Whitespace::Show
    };
    let taste = PatchOptions {
        extent,
        colour,
        whitespace,
    };
    let patch = patch(&state, &stored, arguments.task.as_ref(), taste)?;
    if on_terminal {
        pager::show(&TerminalSanitizer::default().pass(&patch));
    } else {
        // As git gave it: somebody may want to apply it. Who reads no further has seen enough.
        let mut output = std::io::stdout().lock();
        let _ = output.write_all(&patch).and_then(|()| output.flush());
    }
    Ok(Exit::Success)
}
