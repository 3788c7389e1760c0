//! Values that are a plain word: called a secret by somebody, and written by everybody.
//!
//! Knows words, not what they are the value of.

/// A value of small letters only that is no longer is taken for a word, such as `postgres` or `production`. Passwords that
/// services make of small letters, such as Google's for apps, have 16.
const LONGEST: usize = 10;

/// Longer ones that stand in settings of development, and in texts that have nothing to do with these.
const COMMON: [&[u8]; 16] = [
    b"administrator",
    b"application",
    b"authentication",
    b"authorization",
    b"certificate",
    b"credentials",
    b"development",
    b"elasticsearch",
    b"environment",
    b"integration",
    b"mysecretpassword",
    b"passwordless",
    b"placeholder",
    b"preproduction",
    b"supersecret",
    b"unauthenticated",
];

pub(super) fn is_word(value: &[u8]) -> bool {
    let is_short = value.len() <= LONGEST && value.iter().all(u8::is_ascii_lowercase);
    is_short || COMMON.contains(&value)
}
