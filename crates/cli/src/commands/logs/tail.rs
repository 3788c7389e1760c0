//! Prints files that grow, from where it stopped the last time.

use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal as _, Read as _, Write as _};
use std::path::PathBuf;

use crate::failure::{Exit, Failure, Failures};
use crate::output::{print, tell_error};
use crate::sanitize::TerminalSanitizer;

use super::entries::{Colours, EntryPrinter};

/// A file that grows, read up to some place.
pub(super) struct Tail {
    pub(super) path: PathBuf,
    pub(super) file: Option<File>,
}

impl Tail {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, file: None }
    }

    /// The next bytes; none if there are none yet.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let file = match &mut self.file {
            Some(file) => file,
            none => match File::open(&self.path) {
                Ok(file) => none.insert(file),
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error),
            },
        };
        file.read(buffer).map(Some)
    }
}

/// Prints bytes: as they are to a program, without tricks to a terminal.
pub(super) struct Printer {
    /// Turns what agents tell into words, unless it is wanted as it is.
    told: Option<EntryPrinter>,
    harmless: Option<TerminalSanitizer>,
    buffer: Vec<u8>,
}

impl Printer {
    pub(super) fn new() -> Self {
        Self {
            told: None,
            harmless: io::stdout().is_terminal().then(TerminalSanitizer::default),
            buffer: vec![0; 64 << 10],
        }
    }

    /// One that prints what agents tell in words for a person.
    pub(super) fn in_words() -> Self {
        let printer = Self::new();
        let paint = match printer.harmless {
            Some(_) => Colours::Coloured,
            None => Colours::Plain,
        };
        Self {
            told: Some(EntryPrinter::new(paint)),
            ..printer
        }
    }

    /// Prints what was held back, for nothing more comes.
    pub(super) fn finish(mut self) {
        let rest = self.told.as_mut().map(EntryPrinter::rest);
        self.write(&rest.unwrap_or_default());
    }

    /// Prints what is new in a file; tells whether there is such a file.
    pub(super) fn print(&mut self, tail: &mut Tail) -> Result<bool, Failures> {
        loop {
            let read = tail.read(&mut self.buffer).map_err(|error| {
                let message = format!("could not read {}: {error}", tail.path.display());
                Failure::new(Exit::Environment, "no_transcript", message)
            })?;
            match read {
                None => return Ok(false),
                Some(0) => return Ok(true),
                Some(count) => {
                    let bytes = self.buffer[..count].to_vec();
                    let words = self.told.as_mut().map(|told| told.pass(&bytes));
                    self.write(&words.unwrap_or(bytes));
                }
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        if let Some(harmless) = &mut self.harmless {
            return print(format_args!("{}", harmless.pass(bytes)));
        }
        let mut output = io::stdout().lock();
        if let Err(error) = output.write_all(bytes).and_then(|()| output.flush()) {
            if error.kind() != ErrorKind::BrokenPipe {
                tell_error(format_args!("error: could not write the output: {error}\n"));
                std::process::exit(3);
            }
            std::process::exit(0);
        }
    }
}
