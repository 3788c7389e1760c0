//! What a protocol is: a machine that takes lines in and gives entries and lines out, without doing anything itself.
//!
//! Knows nothing of processes; whoever drives it writes the lines and prints the entries.

use std::time::Duration;

use crate::{Conclusion, Entry, Exit};

pub(crate) trait Protocol {
    /// Begins the conversation, as soon as the agent runs.
    fn begin(&mut self, out: &mut ProtocolOutput);

    /// Takes in a line of the agent's standard output, without its end.
    fn hear(&mut self, line: &str, out: &mut ProtocolOutput);

    fn hear_error(&mut self, line: &str, out: &mut ProtocolOutput);

    fn interrupt(&mut self, out: &mut ProtocolOutput);

    fn hear_nothing(&mut self, out: &mut ProtocolOutput) {
        let _ = out;
    }

    /// What all of it means, when the agent has ended in that way; called once, last.
    fn conclude(&mut self, exit: Exit, out: &mut ProtocolOutput) -> Conclusion;
}

#[derive(Debug, Default)]
pub(crate) struct ProtocolOutput {
    pub(crate) entries: Vec<Entry>,
    /// What is to be written to the agent's standard input, a line each, without their ends.
    pub(crate) lines: Vec<String>,
    pub(crate) next: NextStep,
    /// How long nothing may be heard from now on before the protocol is told so.
    pub(crate) listen: Option<Duration>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum NextStep {
    #[default]
    GoOn,
    CloseInput,
    /// It has done its work: it gets no more input, and ends by itself or is ended after a while.
    Dismiss,
    /// It has to be asked to stop by a signal, for its protocol has no word for it.
    Signal,
    /// The session that was to go on is not there: it begins anew, without it. Only when it has ended.
    BeginAnew,
}

impl ProtocolOutput {
    pub(crate) fn print(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// Prints a line as it is, which nobody knows the meaning of.
    pub(crate) fn print_raw(&mut self, line: &str) {
        if !line.trim().is_empty() {
            let text = line.to_owned();
            self.entries.push(Entry::Raw { text });
        }
    }

    pub(crate) fn write(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }
}
