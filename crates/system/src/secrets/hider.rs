//! Takes secrets out of texts and out of streams of bytes, wherever a stream is cut.
//!
//! Known values are found in all their ways of being written, tokens, keys and logins in addresses by their shape. What
//! ends in a line break is never held back. Knows nothing of where the values are from.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::finder::{self, Finder};
use super::{Secrets, colours, encodings, rules, words};
use rules::{Candidate, KEY};

/// What takes the place of something that has no name.
pub(super) const HIDDEN: &str = "[hidden]";

/// What stands before the host of an address, where a login may be.
const ADDRESS: &[u8] = b"://";

/// What the name of a key in PEM ends with.
const KEY_ENDS: [&[u8]; 2] = [b"PRIVATE KEY-----", b"PRIVATE KEY BLOCK-----"];
const LONGEST_LABEL: usize = 80;

/// The longest key, and the shortest first line of one; what is shorter is talk about keys.
const KEY_LENGTH: usize = 16_000;
const SHORTEST_LINE: usize = 16;

/// A login in an address is no longer than this, and a name that is as long as the other is a token.
const LONGEST_LOGIN: usize = 1_000;
const SHORTEST_TOKEN: usize = 20;

/// A line with colours is judged as a whole, unless it is longer.
const LONGEST_LINE: usize = 16_000;

#[derive(Debug, Clone)]
pub struct Hider {
    finder: Arc<Finder>,
    means: Arc<[PatternKind]>,
}

#[derive(Debug, Clone)]
enum PatternKind {
    /// A known value, its name where it is not a word that everybody writes, and the mark for it.
    Value(Option<String>, String),
    Token,
    Key,
    Address,
}

/// Output that is on its way, and what of it cannot be judged yet.
#[derive(Debug, Clone)]
pub(crate) struct HidingStream {
    hider: Hider,
    held: Vec<u8>,
    /// The beginning of a line with colours, which is judged when it is whole.
    coloured: Vec<u8>,
    /// The last bytes that were let go.
    before: [u8; 2],
    /// What is left of a key that is being passed over.
    key: Option<KeyRest>,
}

#[derive(Debug, Clone, Copy)]
struct KeyRest {
    /// How far it may go on.
    left: usize,
    /// Whether some of it was hidden already.
    is_one: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StreamEnd {
    Open,
    Last,
}

impl Default for Hider {
    fn default() -> Self {
        Self::new(&Secrets::default())
    }
}

impl Hider {
    /// Prepares to look for some values, and for whatever has the shape of a secret.
    pub fn new(secrets: &Secrets) -> Self {
        let (mut patterns, mut means) = (Vec::new(), Vec::new());
        for (name, value) in secrets.values() {
            let mark = match name {
                "" => HIDDEN.to_owned(),
                name => format!("[hidden:{name}]"),
            };
            let name = (!words::is_word(value)).then(|| name.to_owned());
            for way in encodings::all(value) {
                patterns.push(way);
                means.push(PatternKind::Value(name.clone(), mark.clone()));
            }
        }
        let tokens = rules::prefixes().map(|prefix| (prefix, PatternKind::Token));
        for (bytes, meaning) in
            tokens.chain([(KEY, PatternKind::Key), (ADDRESS, PatternKind::Address)])
        {
            debug_assert!(bytes.len() >= finder::SHORTEST, "it would not be found");
            patterns.push(bytes.to_vec());
            means.push(meaning);
        }
        Self {
            finder: Arc::new(Finder::new(patterns)),
            means: means.into(),
        }
    }

    /// The known values in some bytes, each by its name and where it is. One that is a single plain word is not
    /// among them: it says nothing of where it is from.
    pub fn known_in<'h>(
        &'h self,
        bytes: &'h [u8],
    ) -> impl Iterator<Item = (&'h str, Range<usize>)> {
        let mut at = 0;
        std::iter::from_fn(move || {
            while let Some(found) = self.finder.find(bytes, at) {
                match &self.means[found.pattern] {
                    PatternKind::Value(Some(name), _) => {
                        at = found.end;
                        return Some((name.as_str(), found.start..found.end));
                    }
                    _ => at = found.start + 1,
                }
            }
            None
        })
    }

    pub fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.finder.find(text.as_bytes(), 0).is_none() && !colours::are_in(text.as_bytes()) {
            return Cow::Borrowed(text);
        }
        let mut clean = Vec::with_capacity(text.len());
        let mut stream = HidingStream::new(self.clone());
        stream.feed(text.as_bytes(), |part| clean.extend_from_slice(part));
        stream.finish(|part| clean.extend_from_slice(part));
        match String::from_utf8(clean) {
            Ok(clean) => Cow::Owned(clean),
            Err(error) => Cow::Owned(String::from_utf8_lossy(error.as_bytes()).into_owned()),
        }
    }

    /// The same text, or one of its own.
    pub fn hidden(&self, text: String) -> String {
        match self.hide(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(clean) => clean,
        }
    }

    /// A line without its colours, if that is how a secret shows.
    fn uncoloured<'l>(&self, line: &'l [u8]) -> Cow<'l, [u8]> {
        if !colours::are_in(line) {
            return Cow::Borrowed(line);
        }
        let secrets_in = |bytes: &[u8]| {
            let mut from = 0;
            let mut count = 0;
            while let Some(found) = self.finder.find(bytes, from) {
                let (before, rest) = bytes.split_at(found.start);
                count += usize::from(match self.means[found.pattern] {
                    PatternKind::Value(..) => true,
                    PatternKind::Token => {
                        matches!(token(rest, before, StreamEnd::Last), Examined::Hide(..))
                    }
                    PatternKind::Key | PatternKind::Address => false,
                });
                from = found.start + 1;
            }
            count
        };
        let plain = colours::without(line);
        if secrets_in(&plain) > secrets_in(line) {
            Cow::Owned(plain)
        } else {
            Cow::Borrowed(line)
        }
    }

    /// The first secret at or behind a place: where it is and what takes its place.
    fn next(&self, bytes: &[u8], from: usize, before: [u8; 2], end: StreamEnd) -> NextSecret<'_> {
        let mut at = from;
        while let Some(found) = self.finder.find(bytes, at) {
            let start = found.start;
            let rest = &bytes[start..];
            let judged = match &self.means[found.pattern] {
                PatternKind::Value(_, mark) => Examined::Hide(0, found.end - start, mark),
                PatternKind::Token => {
                    let ahead = last_two(before, &bytes[..start]);
                    token(rest, &ahead, end)
                }
                PatternKind::Key => key(rest, end),
                PatternKind::Address => login(rest, end),
            };
            match judged {
                Examined::Hide(skipped, until, mark) => {
                    let until = self.with_what_overlaps(bytes, start, start + until);
                    // One that is longer, or begins within this one, may only show with what follows.
                    let begins = start + self.beginning_at_the_end(rest);
                    if end == StreamEnd::Open && begins < until {
                        return NextSecret::Wait(start);
                    }
                    return NextSecret::Hide(start + skipped, until, mark);
                }
                Examined::Key(length) => return NextSecret::Key(start + length),
                Examined::Wait => return NextSecret::Wait(start),
                Examined::Nothing => at = start + 1,
            }
        }
        NextSecret::Nothing
    }

    /// The end of a secret, or of one that begins within it and is known too.
    fn with_what_overlaps(&self, bytes: &[u8], start: usize, end: usize) -> usize {
        let (mut at, mut end) = (start + 1, end);
        loop {
            let within = &bytes[..bytes.len().min(end + self.finder.longest())];
            let Some(found) = self
                .finder
                .find(within, at)
                .filter(|found| found.start < end)
            else {
                break;
            };
            if let PatternKind::Value(..) = self.means[found.pattern] {
                end = end.max(found.end);
            }
            at = found.start + 1;
        }
        end
    }

    /// Where the end of some bytes begins that may be the beginning of a secret.
    fn beginning_at_the_end(&self, bytes: &[u8]) -> usize {
        let longest = self.finder.longest();
        let window = bytes.len().saturating_sub(longest.saturating_sub(1));
        let last_break = bytes[window..].iter().rposition(|byte| *byte == b'\n');
        let from = last_break.map_or(window, |at| window + at + 1);
        let mut places = from..bytes.len();
        let begins = places.find(|at| self.finder.begins_with(&bytes[*at..]));
        begins.unwrap_or(bytes.len())
    }
}

enum NextSecret<'h> {
    Hide(usize, usize, &'h str),
    Key(usize),
    Wait(usize),
    Nothing,
}

enum Examined<'h> {
    /// A secret from here to there.
    Hide(usize, usize, &'h str),
    /// The beginning of a key, so long.
    Key(usize),
    Wait,
    Nothing,
}

fn token(rest: &[u8], before: &[u8], end: StreamEnd) -> Examined<'static> {
    match rules::candidate(rest, before, end == StreamEnd::Last) {
        Candidate::Token(length) => Examined::Hide(0, length, HIDDEN),
        Candidate::Unfinished => Examined::Wait,
        Candidate::Nothing => Examined::Nothing,
    }
}

fn last_two([first, second]: [u8; 2], bytes: &[u8]) -> [u8; 2] {
    match bytes {
        [] => [first, second],
        [last] => [second, *last],
        [.., first, second] => [*first, *second],
    }
}

fn key(rest: &[u8], end: StreamEnd) -> Examined<'static> {
    let label = &rest[KEY.len()..];
    let label = &label[..label.len().min(LONGEST_LABEL)];
    let dashes = label.windows(5).position(|five| five == b"-----");
    let line_ends = label.contains(&b'\n') || label.len() == LONGEST_LABEL;
    match dashes {
        Some(at) if KEY_ENDS.iter().any(|end| label[..at + 5].ends_with(end)) => {
            Examined::Key(KEY.len() + at + 5)
        }
        None if end == StreamEnd::Open && !line_ends => Examined::Wait,
        _ => Examined::Nothing,
    }
}

/// The login in an address: a name with a password, or a name that is a token.
fn login(rest: &[u8], end: StreamEnd) -> Examined<'static> {
    let after = &rest[ADDRESS.len()..];
    let after = &after[..after.len().min(LONGEST_LOGIN)];
    let ends = |byte: &u8| {
        byte.is_ascii_whitespace()
            || byte.is_ascii_control()
            || matches!(byte, b'/' | b'\'' | b'"' | b'<' | b'>' | b'`' | b'\\')
    };
    let Some(length) = after.iter().position(ends).or_else(|| {
        let is_whole = end == StreamEnd::Last || after.len() == LONGEST_LOGIN;
        is_whole.then_some(after.len())
    }) else {
        return Examined::Wait;
    };
    let Some(at) = after[..length].iter().rposition(|byte| *byte == b'@') else {
        return Examined::Nothing;
    };
    let has_password = matches!(
        after[..at].iter().position(|byte| *byte == b':'),
        Some(colon) if colon + 1 < at
    );
    if has_password || at >= SHORTEST_TOKEN {
        Examined::Hide(ADDRESS.len(), ADDRESS.len() + at, HIDDEN)
    } else {
        Examined::Nothing
    }
}

impl HidingStream {
    pub(crate) fn new(hider: Hider) -> Self {
        Self {
            hider,
            held: Vec::new(),
            coloured: Vec::new(),
            before: [b'\n'; 2],
            key: None,
        }
    }

    /// Takes the next piece and gives away everything that can be judged.
    pub(crate) fn feed(&mut self, piece: &[u8], mut give: impl FnMut(&[u8])) {
        if self.coloured.is_empty() && !colours::are_in(piece) {
            return self.feed_plain(piece, give);
        }
        let mut waiting = std::mem::take(&mut self.coloured);
        if waiting.is_empty() && self.key.is_none() {
            // The first half of a value may have come without any colour.
            waiting = std::mem::take(&mut self.held);
        }
        waiting.extend_from_slice(piece);
        let is_break = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let whole = waiting.iter().rposition(is_break).map_or(0, |at| at + 1);
        for line in waiting[..whole].split_inclusive(is_break) {
            let line = self.hider.uncoloured(line).into_owned();
            self.feed_plain(&line, &mut give);
        }
        waiting.drain(..whole);
        if waiting.len() < LONGEST_LINE && colours::are_in(&waiting) {
            self.coloured = waiting;
        } else {
            let rest = self.hider.uncoloured(&waiting).into_owned();
            self.feed_plain(&rest, give);
        }
    }

    fn feed_plain(&mut self, piece: &[u8], give: impl FnMut(&[u8])) {
        if self.held.is_empty() {
            let done = self.pass(piece, StreamEnd::Open, give);
            self.held.extend_from_slice(&piece[done..]);
            return;
        }
        let mut held = std::mem::take(&mut self.held);
        held.extend_from_slice(piece);
        let done = self.pass(&held, StreamEnd::Open, give);
        held.drain(..done);
        self.held = held;
    }

    pub(crate) fn finish(mut self, mut give: impl FnMut(&[u8])) {
        let coloured = std::mem::take(&mut self.coloured);
        if !coloured.is_empty() {
            let rest = self.hider.uncoloured(&coloured).into_owned();
            self.feed_plain(&rest, &mut give);
        }
        let held = std::mem::take(&mut self.held);
        self.pass(&held, StreamEnd::Last, give);
    }

    /// Gives away what can be judged of some bytes; how many that are.
    fn pass(&mut self, bytes: &[u8], end: StreamEnd, mut give: impl FnMut(&[u8])) -> usize {
        let mut at = 0;
        while at < bytes.len() {
            if let Some(rest) = self.key {
                let (passed, is_over) = self.pass_key(rest, &bytes[at..], end, &mut give);
                at += passed;
                if !is_over {
                    break;
                }
                continue;
            }
            let (until, mark, next) = match self.hider.next(bytes, at, self.before, end) {
                NextSecret::Hide(start, end, mark) => (start, mark.to_owned(), end),
                NextSecret::Key(start) => {
                    self.key = Some(KeyRest {
                        left: KEY_LENGTH,
                        is_one: false,
                    });
                    (start, String::new(), start)
                }
                NextSecret::Wait(start) => {
                    give(&bytes[at..start]);
                    at = start;
                    break;
                }
                NextSecret::Nothing => {
                    let until = match end {
                        StreamEnd::Last => bytes.len(),
                        StreamEnd::Open => at + self.hider.beginning_at_the_end(&bytes[at..]),
                    };
                    give(&bytes[at..until]);
                    at = until;
                    break;
                }
            };
            give(&bytes[at..until]);
            give(mark.as_bytes());
            at = next;
        }
        self.before = last_two(self.before, &bytes[..at]);
        at
    }

    /// Passes over a key; how far that is, and whether it is over.
    fn pass_key(
        &mut self,
        mut rest: KeyRest,
        bytes: &[u8],
        end: StreamEnd,
        give: &mut impl FnMut(&[u8]),
    ) -> (usize, bool) {
        let mut at = 0;
        while at < bytes.len() && rest.left > 0 {
            let length = match key_piece(&bytes[at..], rest, end) {
                KeyPiece::Secret(length) => {
                    give(HIDDEN.as_bytes());
                    rest.is_one = true;
                    length
                }
                KeyPiece::Gap(length) => {
                    give(&bytes[at..at + length]);
                    length
                }
                KeyPiece::Wait => break,
                KeyPiece::Over => {
                    rest.left = 0;
                    break;
                }
            };
            at += length;
            rest.left = rest.left.saturating_sub(length);
        }
        self.key = Some(rest).filter(|rest| rest.left > 0);
        (at, self.key.is_none())
    }
}

/// What some bytes behind the beginning of a key begin with.
enum KeyPiece {
    /// So many letters of the key.
    Secret(usize),
    /// What is between two lines of it.
    Gap(usize),
    Wait,
    Over,
}

fn key_piece(bytes: &[u8], rest: KeyRest, end: StreamEnd) -> KeyPiece {
    let is_letter = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let run = bytes.iter().take_while(is_letter).count();
    match bytes[0] {
        _ if run == bytes.len() && end == StreamEnd::Open && run < KEY_LENGTH => KeyPiece::Wait,
        _ if run >= SHORTEST_LINE || (run > 0 && rest.is_one) => KeyPiece::Secret(run),
        b' ' | b'\t' | b'\r' | b'\n' => KeyPiece::Gap(1),
        // A line break within a string.
        b'\\' if matches!(bytes.get(1), Some(b'n' | b'r')) => KeyPiece::Gap(2),
        // The same in a string that stands in another.
        b'\\' if bytes.get(1) == Some(&b'\\') => KeyPiece::Gap(1),
        b'\\' if bytes.len() == 1 && end == StreamEnd::Open => KeyPiece::Wait,
        _ => KeyPiece::Over,
    }
}

#[cfg(test)]
mod tests;
