//! Finds keys and tokens in bytes by their shape alone.
//!
//! Only shapes that hardly anything else has: a warning that is wrong too often is switched off. Knows nothing of
//! files and commits.

use std::fmt;

/// What a secret opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Secret {
    /// A private key in PEM.
    PrivateKey,
    /// An access key of AWS.
    Aws,
    /// A token of GitHub.
    GitHub,
    /// A token of GitLab.
    GitLab,
    /// A token of Slack.
    Slack,
    /// A live key of Stripe.
    Stripe,
    /// An API key of Google.
    Google,
    /// An API key of Anthropic.
    Anthropic,
    /// An API key of `OpenAI`.
    OpenAi,
    /// A token of npm.
    Npm,
    /// A token of `PyPI`.
    PyPi,
    /// A secret key of age.
    Age,
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PrivateKey => "a private key",
            Self::Aws => "an access key of AWS",
            Self::GitHub => "a token of GitHub",
            Self::GitLab => "a token of GitLab",
            Self::Slack => "a token of Slack",
            Self::Stripe => "a live key of Stripe",
            Self::Google => "an API key of Google",
            Self::Anthropic => "an API key of Anthropic",
            Self::OpenAi => "an API key of OpenAI",
            Self::Npm => "a token of npm",
            Self::PyPi => "a token of PyPI",
            Self::Age => "a secret key of age",
        })
    }
}

/// A secret and where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hit<'c> {
    pub(crate) secret: Secret,
    pub(crate) place: usize,
    pub(crate) bytes: &'c [u8],
}

/// What a place that looks like the beginning of a token turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Candidate {
    /// A token of so many bytes.
    Token(usize),
    /// It may become one with the bytes that follow.
    Unfinished,
    /// Something else.
    Nothing,
}

impl Hit<'_> {
    /// How it begins, which tells people which one it is and nobody what it is.
    pub(crate) fn begin(&self) -> String {
        match self.secret {
            Secret::PrivateKey => String::new(),
            _ => String::from_utf8_lossy(&self.bytes[..4]).into_owned(),
        }
    }
}

/// What a token looks like.
struct Shape {
    prefix: &'static [u8],
    secret: Secret,
    /// The characters after the prefix.
    letters: fn(u8) -> bool,
    /// How many of them there are.
    least: usize,
    most: usize,
}

const fn shape(
    prefix: &'static str,
    secret: Secret,
    letters: fn(u8) -> bool,
    least: usize,
    most: usize,
) -> Shape {
    Shape {
        prefix: prefix.as_bytes(),
        secret,
        letters,
        least,
        most,
    }
}

fn alnum(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn url(byte: u8) -> bool {
    word(byte) || byte == b'-'
}

fn dotted(byte: u8) -> bool {
    url(byte) || byte == b'.'
}

fn dashed(byte: u8) -> bool {
    alnum(byte) || byte == b'-'
}

/// Longer prefixes come before those that they begin with.
const SHAPES: [Shape; 31] = [
    shape("AKIA", Secret::Aws, word, 16, 16),
    shape("ASIA", Secret::Aws, word, 16, 16),
    shape("ABIA", Secret::Aws, word, 16, 16),
    shape("ACCA", Secret::Aws, word, 16, 16),
    shape("AIza", Secret::Google, url, 35, 35),
    shape("AGE-SECRET-KEY-1", Secret::Age, alnum, 58, 58),
    shape("ghp_", Secret::GitHub, alnum, 36, 255),
    shape("gho_", Secret::GitHub, alnum, 36, 255),
    shape("ghu_", Secret::GitHub, alnum, 36, 255),
    shape("ghs_", Secret::GitHub, alnum, 36, 255),
    shape("ghr_", Secret::GitHub, alnum, 36, 255),
    shape("github_pat_", Secret::GitHub, word, 60, 255),
    shape("glpat-", Secret::GitLab, dotted, 20, 300),
    shape("npm_", Secret::Npm, alnum, 36, 36),
    shape("pypi-AgE", Secret::PyPi, url, 50, 1_000),
    shape("rk_live_", Secret::Stripe, alnum, 20, 250),
    shape("sk_live_", Secret::Stripe, alnum, 20, 250),
    shape("sk-ant-", Secret::Anthropic, url, 32, 300),
    shape("sk-proj-", Secret::OpenAi, url, 40, 300),
    shape("sk-svcacct-", Secret::OpenAi, url, 40, 300),
    shape("sk-admin-", Secret::OpenAi, url, 40, 300),
    shape("sk-", Secret::OpenAi, url, 48, 48),
    shape("xoxa-", Secret::Slack, dashed, 20, 300),
    shape("xoxb-", Secret::Slack, dashed, 20, 300),
    shape("xoxc-", Secret::Slack, dashed, 20, 300),
    shape("xoxd-", Secret::Slack, dashed, 20, 300),
    shape("xoxe-", Secret::Slack, dashed, 20, 300),
    shape("xoxo-", Secret::Slack, dashed, 20, 300),
    shape("xoxp-", Secret::Slack, dashed, 20, 300),
    shape("xoxr-", Secret::Slack, dashed, 20, 300),
    shape("xoxs-", Secret::Slack, dashed, 20, 300),
];

/// Which bytes anything here begins with, and which come next.
static STARTS: [u8; 256] = starts();

/// Marks first bytes by 1 and second ones by 2.
const fn starts() -> [u8; 256] {
    let mut table = [0; 256];
    table[b'-' as usize] = 3;
    let mut place = 0;
    while place < SHAPES.len() {
        table[SHAPES[place].prefix[0] as usize] |= 1;
        table[SHAPES[place].prefix[1] as usize] |= 2;
        place += 1;
    }
    table
}

/// The keys and tokens of some bytes, in their order.
pub(crate) fn hits(content: &[u8]) -> impl Iterator<Item = Hit<'_>> {
    let mut place = 0;
    std::iter::from_fn(move || {
        while let [first, second, ..] = content[place..] {
            if STARTS[usize::from(first)] & 1 != 0
                && STARTS[usize::from(second)] & 2 != 0
                && let Some(hit) = hit_at(content, place)
            {
                place = hit.place + hit.bytes.len();
                return Some(hit);
            }
            place += 1;
        }
        None
    })
}

fn hit_at(content: &[u8], place: usize) -> Option<Hit<'_>> {
    if content[place] == b'-' {
        return key_at(content, place);
    }
    if place > 0 && word(content[place - 1]) {
        return None;
    }
    let rest = &content[place..];
    let shape = SHAPES.iter().find(|shape| rest.starts_with(shape.prefix))?;
    let length = shape.length_in(rest)?;
    Some(Hit {
        secret: shape.secret,
        place,
        bytes: &rest[..length],
    })
}

impl Shape {
    /// How long the token is that some bytes begin with.
    fn length_in(&self, rest: &[u8]) -> Option<usize> {
        let body = &rest[self.prefix.len()..];
        let length = self.letters_in(body);
        let body = &body[..length];
        let fits = (self.least..=self.most).contains(&length);
        let whole = self.prefix.len() + length;
        // The shape may end before the word does.
        let ends = rest.get(whole).is_none_or(|next| !word(*next));
        (fits && ends && is_of(self.secret, body) && !is_placeholder(body)).then_some(whole)
    }

    fn letters_in(&self, body: &[u8]) -> usize {
        let letters = body.iter().take_while(|byte| (self.letters)(**byte));
        letters.count()
    }
}

/// What all tokens begin with.
pub(super) fn prefixes() -> impl Iterator<Item = &'static [u8]> {
    SHAPES.iter().map(|shape| shape.prefix)
}

/// What the token is that bytes begin with, where more may follow unless they are the last; `before` is the byte in
/// front of them.
pub(super) fn candidate(rest: &[u8], before: Option<u8>, are_last: bool) -> Candidate {
    let shape = SHAPES.iter().find(|shape| rest.starts_with(shape.prefix));
    let Some(shape) = shape.filter(|_| !before.is_some_and(word)) else {
        return Candidate::Nothing;
    };
    let body = &rest[shape.prefix.len()..];
    let length = shape.letters_in(body);
    if !are_last && length == body.len() && length <= shape.most {
        return Candidate::Unfinished;
    }
    let length = shape.length_in(rest);
    length.map_or(Candidate::Nothing, Candidate::Token)
}

/// What some tokens have beyond their length.
fn is_of(secret: Secret, body: &[u8]) -> bool {
    let count = |is: fn(&u8) -> bool| body.iter().filter(|byte| is(byte)).count();
    let is_mixed = || count(u8::is_ascii_uppercase) > 0 && count(u8::is_ascii_lowercase) > 0;
    match secret {
        Secret::Aws => body
            .iter()
            .all(|byte| matches!(byte, b'A'..=b'Z' | b'2'..=b'7')),
        Secret::Age => body
            .iter()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()),
        Secret::Slack => count(u8::is_ascii_digit) >= 6,
        // Otherwise a name of many words would do.
        Secret::Anthropic | Secret::GitLab | Secret::Google => is_mixed(),
        Secret::OpenAi => is_mixed() && count(u8::is_ascii_digit) > 0,
        _ => true,
    }
}

/// The longest name of a key, and how far behind it the key may begin.
const LONGEST_LABEL: usize = 60;
const FURTHEST: usize = 600;

/// Fewer characters are no key but talk about one.
const SHORTEST_KEY: usize = 40;

fn key_at(content: &[u8], place: usize) -> Option<Hit<'_>> {
    let label = content[place..].strip_prefix(b"-----BEGIN ")?;
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
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let mut runs = within.split(|byte| !is_base64(byte));
    let key = runs.find(|run| run.len() >= SHORTEST_KEY)?;
    (!is_placeholder(key)).then_some(Hit {
        secret: Secret::PrivateKey,
        place,
        bytes: key,
    })
}

/// Words that stand where a secret should, in capitals.
const PLACEHOLDERS: [&[u8]; 11] = [
    b"EXAMPLE",
    b"XXXX",
    b"PLACEHOLDER",
    b"REDACTED",
    b"CHANGEME",
    b"DUMMY",
    b"FAKE",
    b"YOUR",
    b"SAMPLE",
    b"123456789",
    b"ABCDEFGHIJ",
];

/// Whether anybody sees at once that this is no secret.
fn is_placeholder(body: &[u8]) -> bool {
    let capitals = body.to_ascii_uppercase();
    let mut seen = [false; 256];
    for byte in body {
        seen[usize::from(*byte)] = true;
    }
    let distinct = seen.iter().filter(|seen| **seen).count();
    distinct < 8
        || PLACEHOLDERS.iter().any(|word| {
            let mut windows = capitals.windows(word.len());
            windows.any(|window| window == *word)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE62: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

    /// Characters in no order, made here so that no file holds what looks like a secret.
    fn random(letters: &[u8], count: usize) -> String {
        let mut state = 2_463_534_242_u32;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            letters[state as usize % letters.len()]
        };
        (0..count).map(|_| char::from(next())).collect()
    }

    #[track_caller]
    fn found(text: &str) -> Vec<(Secret, String)> {
        let hits = hits(text.as_bytes());
        hits.map(|hit| {
            let bytes = String::from_utf8_lossy(hit.bytes).into_owned();
            (hit.secret, bytes)
        })
        .collect()
    }

    /// A token of every kind.
    fn tokens() -> Vec<(Secret, String)> {
        let base32 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
        let bech32 = b"QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L";
        let token = |secret, prefix: &str, letters: &[u8], count| {
            (secret, format!("{prefix}{}", random(letters, count)))
        };
        vec![
            token(Secret::Aws, "AKIA", base32, 16),
            token(Secret::Aws, "ASIA", base32, 16),
            token(Secret::GitHub, "ghp_", BASE62, 36),
            token(Secret::GitHub, "gho_", BASE62, 36),
            token(Secret::GitHub, "ghs_", BASE62, 36),
            token(Secret::GitHub, "ghr_", BASE62, 76),
            token(Secret::GitHub, "github_pat_", BASE62, 82),
            token(Secret::GitLab, "glpat-", BASE62, 20),
            token(Secret::Slack, "xoxb-", b"0123456789-abcDEF", 50),
            token(Secret::Slack, "xoxp-", b"0123456789-abcDEF", 70),
            token(Secret::Stripe, "sk_live_", BASE62, 24),
            token(Secret::Google, "AIza", BASE62, 35),
            token(Secret::Anthropic, "sk-ant-api03-", BASE62, 93),
            token(Secret::OpenAi, "sk-", BASE62, 48),
            token(Secret::OpenAi, "sk-proj-", BASE62, 120),
            token(Secret::Npm, "npm_", BASE62, 36),
            token(Secret::PyPi, "pypi-AgE", BASE62, 150),
            token(Secret::Age, "AGE-SECRET-KEY-1", bech32, 58),
        ]
    }

    #[test]
    fn every_kind_of_token_is_found_wherever_it_stands() {
        for token in tokens() {
            let text = &token.1;
            let places = [
                text.clone(),
                format!("key = \"{text}\"\n"),
                format!("https://u:{text}@host/x\n"),
                format!("KEY={text}\r\nOTHER=1\n"),
                format!("\0\u{1}{text}\0"),
                format!("- {text}, and more"),
            ];
            for place in places {
                assert_eq!(found(&place), std::slice::from_ref(&token), "{place:?}");
            }
        }
        let all: Vec<_> = tokens().into_iter().map(|(_, token)| token).collect();
        let met: Vec<_> = found(&all.join(" ")).into_iter().map(|hit| hit.1).collect();
        assert_eq!(met, all);
    }

    #[test]
    fn a_token_that_is_part_of_a_word_or_too_short_is_none() {
        for (_, token) in tokens() {
            assert_eq!(found(&format!("x{token}")), [], "{token}");
            assert_eq!(found(&token[..18]), [], "{token}");
        }
    }

    #[test]
    fn what_stands_for_a_secret_is_none() {
        for (secret, token) in tokens() {
            let prefix = token.len() - token.trim_start_matches(|c| c != '_').len();
            let prefix = if prefix == 0 || prefix > 12 {
                4
            } else {
                prefix
            };
            let (head, body) = token.split_at(prefix);
            let same = format!("{head}{}", "x".repeat(body.len()));
            let zero = format!("{head}{}", "0".repeat(body.len()));
            let example = format!("{}EXAMPLE", &token[..token.len() - 7]);
            for placeholder in [same, zero, example, format!("{head}<token>")] {
                assert_eq!(found(&placeholder), [], "{secret}: {placeholder}");
            }
        }
    }

    #[test]
    fn names_and_numbers_of_every_day_are_no_secrets() {
        let text = "sk-learn sk-ant-design task-proj-list npm_config_registry npm_lifecycle_event \
                    ghp_token github_pat_prefix glpat-is-the-prefix-of-a-token-of-gitlab xoxb-token \
                    AKIA sk_live_key AIza pypi- disk-proj-x password = \"hunter2hunter2hunter2\" \
                    sk-proj-a-name-of-many-words-that-goes-on-and-on-for-ever-2 \
                    sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg== \
                    e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 ------------------------- \
                    -----BEGIN CERTIFICATE----- -----BEGIN PUBLIC KEY-----";
        assert_eq!(found(text), []);
    }

    #[test]
    fn a_private_key_is_found_and_talk_about_one_is_not() {
        let line = random(BASE62, 64);
        for label in ["", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED "] {
            let begin = format!("-----BEGIN {label}PRIVATE {}-----", "KEY");
            let files = [
                format!("{begin}\n{line}\n{line}\n-----END"),
                format!("{begin}\r\n{line}"),
                format!("key: \"{begin}\\n{line}\\n\""),
                format!("{begin}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n{line}"),
            ];
            for file in files {
                let kinds: Vec<_> = found(&file).into_iter().map(|hit| hit.0).collect();
                assert_eq!(kinds, [Secret::PrivateKey], "{file}");
            }
            let talk = [
                begin.clone(),
                format!(
                    "if text.contains(\"{begin}\") {{ return a_name_that_is_quite_long_for_a_name(); }}"
                ),
                format!("{begin}\n...\n-----END {label}PRIVATE KEY-----\n{line}"),
                format!("{begin}\n{}\n", "A".repeat(64)),
            ];
            for text in talk {
                assert_eq!(found(&text), [], "{text}");
            }
        }
        let block = format!(
            "-----BEGIN PGP PRIVATE {} BLOCK-----\nVersion: 1\n\n{line}",
            "KEY"
        );
        assert_eq!(found(&block).len(), 1);
    }

    #[test]
    fn no_more_than_four_characters_are_repeated() {
        for (_, token) in tokens() {
            let hit = hits(token.as_bytes()).next().unwrap();
            assert!(hit.begin().len() <= 4 && token.starts_with(&hit.begin()));
        }
    }
}
