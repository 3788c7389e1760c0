//! In which colours a terminal would write on, after what was printed so far.
//!
//! Knows the sequences that choose colours and weights, and passes over all others.

/// Longer ones choose no colour.
const LONGEST: usize = 64;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TextStyle {
    foreground: Option<String>,
    background: Option<String>,
    /// A bit for each of 1 (bold) to 9 (struck out).
    weights: u16,
    /// The beginning of a sequence whose end has not come yet.
    begun: Vec<u8>,
}

impl TextStyle {
    /// Takes in what is printed next; sequences may be cut anywhere.
    pub(super) fn take(&mut self, mut bytes: &[u8]) {
        loop {
            if self.begun.is_empty() {
                // Most of what is printed has no colours, and asking whether it has is faster than finding where.
                if !bytes.contains(&b'\x1b') {
                    return;
                }
                let before = bytes.iter().take_while(|byte| **byte != b'\x1b');
                bytes = &bytes[before.count() + 1..];
                self.begun.push(b'\x1b');
            }
            let Some((byte, rest)) = bytes.split_first() else {
                return;
            };
            match (self.begun.len(), *byte) {
                (1, b'[') | (2.., b'0'..=b'9' | b';' | b':') if self.begun.len() < LONGEST => {
                    self.begun.push(*byte);
                }
                (2.., b'm') => {
                    let chosen = std::mem::take(&mut self.begun);
                    self.choose(&String::from_utf8_lossy(&chosen[2..]));
                }
                // Another kind of sequence, or the beginning of the next one.
                _ => {
                    self.begun.clear();
                    if *byte == b'\x1b' {
                        continue;
                    }
                }
            }
            bytes = rest;
        }
    }

    /// The sequence that chooses the same again; empty where nothing is chosen.
    pub(super) fn opening(&self) -> String {
        let weights = (1..=9).filter(|weight| self.weights & (1 << weight) != 0);
        let mut chosen: Vec<String> = weights.map(|weight: u16| weight.to_string()).collect();
        chosen.extend(self.foreground.clone());
        chosen.extend(self.background.clone());
        if chosen.is_empty() {
            return String::new();
        }
        format!("\x1b[{}m", chosen.join(";"))
    }

    fn choose(&mut self, sequence: &str) {
        let mut words = sequence.split(';');
        while let Some(word) = words.next() {
            // What stands behind a colon belongs to the number before it.
            let number = word.split(':').next().unwrap_or_default();
            let number: u16 = if number.is_empty() {
                0
            } else {
                number.parse().unwrap_or(u16::MAX)
            };
            match number {
                0 => *self = Self::default(),
                1..=9 => self.weights |= 1 << number,
                22 => self.weights &= !(1 << 1 | 1 << 2),
                23..=25 | 27..=29 => self.weights &= !(1 << (number - 20)),
                30..=37 | 90..=97 => self.foreground = Some(word.to_owned()),
                39 => self.foreground = None,
                40..=47 | 100..=107 => self.background = Some(word.to_owned()),
                49 => self.background = None,
                38 => self.foreground = wide(word, &mut words),
                48 => self.background = wide(word, &mut words),
                _ => {}
            }
        }
    }
}

/// A colour of many: `38;5;n`, `38;2;r;g;b`, or either with colons.
fn wide<'a>(word: &'a str, words: &mut impl Iterator<Item = &'a str>) -> Option<String> {
    if word.contains(':') {
        return Some(word.to_owned());
    }
    let kind = words.next()?;
    let more = match kind {
        "5" => 1,
        "2" => 3,
        _ => return None,
    };
    let mut all = vec![word, kind];
    all.extend(words.take(more));
    Some(all.join(";"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(printed: &str, opening: &str) {
        let printed = printed.replace('^', "\x1b[");
        let mut whole = TextStyle::default();
        whole.take(printed.as_bytes());
        assert_eq!(
            whole.opening().replace("\x1b[", "^"),
            opening,
            "{printed:?}"
        );
        let mut cut = TextStyle::default();
        for byte in printed.bytes() {
            cut.take(&[byte]);
        }
        assert_eq!(cut, whole, "{printed:?} byte by byte");
    }

    #[test]
    fn colours_stay_until_they_are_taken_back() {
        check("plain", "");
        check("^31mred", "^31m");
        check("^31mred^0m plain", "");
        check("^31mred^m plain", "");
        check("^1;31mbold^22m red", "^31m");
        check("^31m^42m^39mgreen behind", "^42m");
        check("^4m^9m^24m", "^9m");
        check("^97;104mbright", "^97;104m");
    }

    #[test]
    fn colours_of_many_are_kept_whole() {
        check("^38;5;208morange", "^38;5;208m");
        check("^38;2;1;2;3;1mbold", "^1;38;2;1;2;3m");
        check("^48:2::1:2:3mbehind", "^48:2::1:2:3m");
        check("^38;5;208m^39m", "");
    }

    #[test]
    fn other_sequences_choose_nothing() {
        check("^2K^1;31Hhere", "");
        check("\u{1b}]0;title 31m\u{7}", "");
        check("^31\u{1b}[32m", "^32m");
        check("^?25l", "");
    }
}
