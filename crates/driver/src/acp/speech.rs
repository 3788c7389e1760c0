//! Gathers what an agent says in small pieces into whole lines.

use crate::shortened;

/// A message that is told at the end is no longer than this.
const LONGEST_MESSAGE: usize = 4 << 10;

/// A line that has no end is cut where it is this long.
const LONGEST_LINE: usize = 2 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpeechKind {
    Saying,
    Thinking,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct SpokenLines {
    pub(super) voice: SpeechKind,
    pub(super) text: String,
}

#[derive(Debug, Default)]
pub(super) struct Speech {
    /// Who speaks, and in which message.
    at: Option<(SpeechKind, Option<String>)>,
    /// What has no end yet.
    rest: String,
    /// All of the last message that was said.
    message: String,
}

impl Speech {
    /// Takes in a piece of a message, and gives what is whole by that.
    pub(super) fn hear(
        &mut self,
        voice: SpeechKind,
        message: Option<&str>,
        piece: &str,
    ) -> Vec<SpokenLines> {
        let mut whole = Vec::new();
        if !self.is_in(voice, message) {
            whole.extend(self.end());
            if voice == SpeechKind::Saying {
                self.message.clear();
            }
            self.at = Some((voice, message.map(str::to_owned)));
        }
        if voice == SpeechKind::Saying && self.message.len() < LONGEST_MESSAGE * 4 {
            self.message += piece;
        }
        self.rest += piece;
        let end = self.rest.rfind('\n').or_else(|| {
            let is_long = self.rest.len() > LONGEST_LINE;
            self.rest.rfind(' ').filter(|_| is_long)
        });
        if let Some(end) = end {
            let rest = self.rest.split_off(end + 1);
            let text = std::mem::replace(&mut self.rest, rest);
            whole.extend(lines(voice, &text));
        }
        whole
    }

    pub(super) fn is_in(&self, voice: SpeechKind, message: Option<&str>) -> bool {
        let at = self.at.as_ref();
        at.is_some_and(|(who, id)| *who == voice && id.as_deref() == message)
    }

    /// The message is over: what is left of it.
    pub(super) fn end(&mut self) -> Option<SpokenLines> {
        let (voice, _) = self.at.take()?;
        let text = std::mem::take(&mut self.rest);
        lines(voice, &text)
    }

    pub(super) fn last(&self) -> String {
        shortened(self.message.trim(), LONGEST_MESSAGE)
    }
}

fn lines(voice: SpeechKind, text: &str) -> Option<SpokenLines> {
    let text = text.trim_matches('\n').trim_end();
    let text = text.strip_prefix("****\n").unwrap_or(text);
    // A heading without words is nothing either.
    let is_something = text.contains(|c: char| !c.is_whitespace() && c != '*');
    is_something.then(|| SpokenLines {
        voice,
        text: text.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::{Speech, SpeechKind};

    /// Pieces are written `message:text`; what comes is joined by bars.
    #[track_caller]
    fn check(pieces: &[(&str, &str)], expected: &str) {
        let mut speech = Speech::default();
        let mut all = Vec::new();
        for (message, piece) in pieces {
            all.extend(speech.hear(SpeechKind::Saying, Some(message), piece));
        }
        all.extend(speech.end());
        let all: Vec<_> = all.into_iter().map(|lines| lines.text).collect();
        assert_eq!(all.join("|"), expected);
    }

    #[test]
    fn pieces_become_lines() {
        check(
            &[("1", "one li"), ("1", "ne\ntwo"), ("1", " lines")],
            "one line|two lines",
        );
    }

    #[test]
    fn another_message_begins_a_line() {
        check(&[("1", "one"), ("2", "two")], "one|two");
    }

    #[test]
    fn empty_lines_at_the_edges_are_nothing() {
        check(
            &[("1", "\n\n"), ("1", "a\n\n  b\n"), ("1", "\n")],
            "a\n\n  b",
        );
    }
}
