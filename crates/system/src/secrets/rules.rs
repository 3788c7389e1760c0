//! Finds keys and tokens in bytes by their shape alone, as `rules.toml` describes them.
//!
//! The expressions are run by hand, byte by byte, because logs come in pieces: a token may be unfinished. Knows nothing
//! of files and commits.

use std::sync::{LazyLock, OnceLock};

use regex_automata::Anchored;
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::{start, syntax};
use toml_edit::{Document, Item, Table};

use super::finder::Finder;

static RULES: LazyLock<TokenRules> = LazyLock::new(|| TokenRules::read(include_str!("rules.toml")));

/// What stands between a name and the value that is assigned to it, in whatever language.
const ASSIGNMENT: &str =
    r#"[0-9A-Za-z_.-]{0,25}\\?["'`\]]{0,2}[ \t]{0,8}(?:=>|:=|=|:|,)[ \t]{0,8}\\?["'`]?"#;

/// The beginning of a private key in PEM.
pub(super) const KEY: &[u8] = b"-----BEGIN ";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecretHit<'c> {
    pub name: &'static str,
    pub place: usize,
    pub bytes: &'c [u8],
    /// Whether its beginning is the same for all of its kind.
    has_prefix: bool,
}

impl SecretHit<'_> {
    /// How it begins, where that tells people which one it is and nobody what it is.
    pub fn begin(&self) -> String {
        let begin = if self.has_prefix {
            &self.bytes[..4]
        } else {
            &[]
        };
        String::from_utf8_lossy(begin).into_owned()
    }
}

/// What a place that looks like the beginning of a token turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Candidate {
    /// A token of so many bytes.
    Token(usize),
    /// It may become one with the bytes that follow.
    Unfinished,
    Nothing,
}

struct TokenRules {
    rules: Vec<TokenRule>,
    placeholders: Vec<String>,
    /// Finds the beginnings of all rules; the scan before a push needs it, and logs do not.
    finder: OnceLock<Finder>,
    assignment: Expression,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FoundAt {
    WordStart,
    Anywhere,
    /// Behind one of the names that it is assigned to.
    Assignment,
}

/// One kind of token; `rules.toml` says what the fields mean.
struct TokenRule {
    name: String,
    starts: Vec<String>,
    found_at: FoundAt,
    rest: Expression,
    is_mixed: bool,
    digits: usize,
    is_push_only: bool,
}

impl TokenRules {
    fn read(text: &str) -> Self {
        // Every wrapper does this, and a tree of the whole file is fifty times as large as the file.
        let mut tables = text
            .split("[[rule]]")
            .map(|table| Document::parse(table).expect("the rules are TOML"));
        let head = tables.next().expect("a text has a first part");
        Self {
            placeholders: strings(head.get("placeholders")),
            finder: OnceLock::new(),
            assignment: Expression::new(ASSIGNMENT),
            rules: tables.map(|table| TokenRule::read(&table)).collect(),
        }
    }

    fn finder(&self) -> &Finder {
        self.finder.get_or_init(|| {
            let mut starts: Vec<_> = self.rules.iter().flat_map(|rule| &rule.starts).collect();
            starts.sort();
            starts.dedup();
            let starts = starts.into_iter().map(|start| start.as_bytes().to_vec());
            Finder::new(starts.chain([KEY.to_vec()]).collect())
        })
    }

    fn hit_at<'c>(&'static self, content: &'c [u8], place: usize) -> Option<SecretHit<'c>> {
        let rest = &content[place..];
        if rest.starts_with(KEY) {
            return self.key_at(content, place);
        }
        let before = &content[..place];
        self.rules.iter().find_map(|rule| {
            let (skipped, length) = self.match_of(rule, rest, before)?;
            Some(SecretHit {
                name: &rule.name,
                place: place + skipped,
                bytes: &rest[skipped..skipped + length],
                has_prefix: rule.found_at != FoundAt::Assignment,
            })
        })
    }

    /// How many bytes stand before the secret that a rule finds at the beginning of some bytes, and how long it is.
    fn match_of(&self, rule: &TokenRule, rest: &[u8], before: &[u8]) -> Option<(usize, usize)> {
        if rule.found_at != FoundAt::Assignment {
            return match self.candidate(rule, rest, before, true) {
                Candidate::Token(length) => Some((0, length)),
                _ => None,
            };
        }
        let name = rule.start_of(rest)?.len();
        let skipped = name + self.assignment.longest(&rest[name..]).length?;
        let length = rule.rest.longest(&rest[skipped..]).length?;
        self.is_token(rule, &rest[skipped..], 0, length)
            .then_some((skipped, length))
    }

    fn candidate(&self, rule: &TokenRule, rest: &[u8], before: &[u8], are_last: bool) -> Candidate {
        let is_within = rule.found_at == FoundAt::WordStart && ends_in_word(before);
        let Some(start) = rule.start_of(rest).filter(|_| !is_within) else {
            return Candidate::Nothing;
        };
        let longest = rule.rest.longest(&rest[start.len()..]);
        if longest.may_go_on && !are_last {
            return Candidate::Unfinished;
        }
        let length = longest.length.map(|length| start.len() + length);
        let length = length.filter(|length| self.is_token(rule, rest, start.len(), *length));
        length.map_or(Candidate::Nothing, Candidate::Token)
    }

    /// Whether the first bytes are a whole word and what a rule asks for beyond its expression.
    fn is_token(&self, rule: &TokenRule, rest: &[u8], start: usize, length: usize) -> bool {
        let body = &rest[start..length];
        let count = |is: fn(&u8) -> bool| body.iter().filter(|byte| is(byte)).count();
        let is_mixed = count(u8::is_ascii_uppercase) > 0 && count(u8::is_ascii_lowercase) > 0;
        rest.get(length).is_none_or(|next| !is_word(*next))
            && (is_mixed || !rule.is_mixed)
            && count(u8::is_ascii_digit) >= rule.digits
            && !self.is_placeholder(body)
    }

    /// Whether anybody sees at once that this is no secret.
    fn is_placeholder(&self, body: &[u8]) -> bool {
        let capitals = String::from_utf8_lossy(body).to_ascii_uppercase();
        let mut seen = [false; 256];
        for byte in body {
            seen[usize::from(*byte)] = true;
        }
        let distinct = seen.iter().filter(|seen| **seen).count();
        distinct < 8 || self.placeholders.iter().any(|word| capitals.contains(word))
    }

    fn key_at<'c>(&self, content: &'c [u8], place: usize) -> Option<SecretHit<'c>> {
        let label = content[place..].strip_prefix(KEY)?;
        let end = label
            .iter()
            .take(LONGEST_LABEL)
            .position(|byte| *byte == b'-')?;
        let (label, rest) = label.split_at(end);
        if !label.ends_with(b"PRIVATE KEY") && !label.ends_with(b"PRIVATE KEY BLOCK") {
            return None;
        }
        let rest = rest.strip_prefix(b"-----")?;
        let within = &rest[..rest.len().min(FURTHEST)];
        let end = within.windows(5).position(|window| window == b"-----");
        let within = &within[..end.unwrap_or(within.len())];
        let is_base64 =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
        let mut runs = within.split(|byte| !is_base64(byte));
        let key = runs.find(|run| run.len() >= SHORTEST_KEY)?;
        (!self.is_placeholder(key)).then_some(SecretHit {
            name: "private key",
            place,
            bytes: key,
            has_prefix: false,
        })
    }
}

/// The longest name of a key, and how far behind it the key may begin.
const LONGEST_LABEL: usize = 60;
const FURTHEST: usize = 600;

/// Fewer characters are no key but talk about one.
const SHORTEST_KEY: usize = 40;

impl TokenRule {
    fn read(table: &Table) -> Self {
        let text = |key| table.get(key).and_then(Item::as_str);
        let flag = |key| table.get(key).and_then(Item::as_bool).unwrap_or_default();
        let digits = table.get("digits").and_then(Item::as_integer);
        let named = strings(table.get("named"));
        Self {
            name: text("name").expect("a rule has a name").to_owned(),
            found_at: match flag("inside_words") {
                _ if !named.is_empty() => FoundAt::Assignment,
                true => FoundAt::Anywhere,
                false => FoundAt::WordStart,
            },
            rest: Expression::new(text("rest").expect("a rule says what follows")),
            is_mixed: flag("mixed"),
            digits: digits.map_or(0, |least| usize::try_from(least).expect("they are few")),
            is_push_only: flag("push_only") || !named.is_empty(),
            starts: [strings(table.get("starts")), named].concat(),
        }
    }

    fn start_of(&self, rest: &[u8]) -> Option<&str> {
        let mut starts = self.starts.iter().map(String::as_str);
        starts.find(|start| rest.starts_with(start.as_bytes()))
    }
}

fn strings(item: Option<&Item>) -> Vec<String> {
    let array = item.and_then(Item::as_array).into_iter().flatten();
    array
        .filter_map(|value| value.as_str().map(str::to_owned))
        .collect()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether what follows would go on with a word. The letter of a line break in JSON, as transcripts are full of, begins none.
fn ends_in_word(before: &[u8]) -> bool {
    match before {
        [.., b'\\', b'n' | b'r' | b't'] | [] => false,
        [.., last] => is_word(*last),
    }
}

/// A regular expression that is compiled when it is first needed, as few of them are.
struct Expression {
    text: String,
    automaton: OnceLock<dense::DFA<Vec<u32>>>,
}

/// How far an expression matches the beginning of some bytes.
struct MatchLength {
    length: Option<usize>,
    /// Whether the bytes that follow could make it match, or match further.
    may_go_on: bool,
}

impl Expression {
    fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            automaton: OnceLock::new(),
        }
    }

    fn automaton(&self) -> &dense::DFA<Vec<u32>> {
        self.automaton.get_or_init(|| {
            dense::Builder::new()
                .configure(dense::Config::new().start_kind(StartKind::Anchored))
                .syntax(syntax::Config::new().unicode(false).utf8(false))
                .thompson(thompson::Config::new().utf8(false))
                .build(&self.text)
                .expect("a test compiles every expression")
        })
    }

    fn longest(&self, bytes: &[u8]) -> MatchLength {
        let automaton = self.automaton();
        let anchored = start::Config::new().anchored(Anchored::Yes);
        let mut state = automaton
            .start_state(&anchored)
            .expect("it was built to be anchored");
        let mut length = None;
        for (at, byte) in bytes.iter().enumerate() {
            state = automaton.next_state(state, *byte);
            // The automaton says so one byte late, so that it can look at what follows.
            if automaton.is_match_state(state) {
                length = Some(at);
            } else if automaton.is_dead_state(state) {
                break;
            }
        }
        if automaton.is_match_state(automaton.next_eoi_state(state)) {
            length = Some(bytes.len());
        }
        let is_open = |byte| !automaton.is_dead_state(automaton.next_state(state, byte));
        MatchLength {
            length,
            may_go_on: (0..=u8::MAX).any(is_open),
        }
    }
}

/// The keys and tokens of some bytes, in their order.
pub fn hits(content: &[u8]) -> impl Iterator<Item = SecretHit<'_>> {
    let rules = &*RULES;
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(found) = rules.finder().find(content, at) {
            if let Some(hit) = rules.hit_at(content, found.start) {
                at = hit.place + hit.bytes.len();
                return Some(hit);
            }
            at = found.start + 1;
        }
        None
    })
}

/// What the tokens begin with that logs hide.
pub(super) fn prefixes() -> impl Iterator<Item = &'static [u8]> {
    let hidden = RULES.rules.iter().filter(|rule| !rule.is_push_only);
    let starts = hidden.flat_map(|rule| &rule.starts);
    starts.map(String::as_bytes)
}

/// What the token is that bytes begin with, where more may follow unless they are the last; `before` is what stands
/// in front of them, of which two bytes are enough.
pub(super) fn candidate(rest: &[u8], before: &[u8], are_last: bool) -> Candidate {
    let rules = RULES.rules.iter().filter(|rule| !rule.is_push_only);
    let mut best = Candidate::Nothing;
    for rule in rules {
        match RULES.candidate(rule, rest, before, are_last) {
            // Which rule it is must not depend on where a log is cut.
            Candidate::Unfinished => return Candidate::Unfinished,
            token if best == Candidate::Nothing => best = token,
            _ => {}
        }
    }
    best
}

#[cfg(test)]
mod tests;
