//! Why a call of git did not do what it should, told without secrets.
//!
//! Knows nothing of what a call was for.

use std::io;

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("git is not installed, or not on the PATH")]
    NotInstalled,
    #[error("git {found} is too old: merging without a checkout needs {needed} or newer")]
    TooOld { found: String, needed: String },
    #[error("git {what} failed with code {code}: {stderr}")]
    Failed {
        what: String,
        /// Its exit code, or 128 and the signal that ended it.
        code: i32,
        stderr: String,
    },
    #[error("git {what} timed out")]
    TimedOut { what: String },
    #[error("git {what} was cancelled")]
    Stopped { what: String },
    #[error("git {what} printed unexpected output: {printed:?}")]
    Garbled { what: String, printed: String },
    #[error("could not run git {what}")]
    Io { what: String, source: io::Error },
}

const HIDDEN: &str = "***";

/// Takes logins out of the addresses in a text, and known secrets wherever they stand.
pub fn scrub(text: &str, secrets: &[String]) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        clean.push_str(before);
        let ends = |c: char| c.is_whitespace() || matches!(c, '/' | '\'' | '"' | '<' | '>');
        let authority = &after[..after.find(ends).unwrap_or(after.len())];
        rest = match authority.rfind('@') {
            Some(end) => &after[end + 1..],
            None => after,
        };
    }
    clean.push_str(rest);
    for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
        clean = clean.replace(secret.as_str(), HIDDEN);
    }
    clean
}

/// A text of somebody else's as one line of printable letters, no longer than needed.
pub fn plain_words(text: &str, most: usize) -> String {
    let mut plain = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter == '\u{1b}' {
            // The colours of a terminal end with a letter.
            let _ = letters.find(char::is_ascii_alphabetic);
        } else if letter.is_whitespace() || letter.is_control() {
            if !plain.ends_with(' ') {
                plain.push(' ');
            }
        } else {
            plain.push(letter);
        }
    }
    let plain = plain.trim();
    match plain.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &plain[..end]),
        None => plain.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lose_their_logins_and_nothing_else() {
        let same = ["", "no address", "https://host/a@b", "git@host:a/b", "a://"];
        for text in same {
            assert_eq!(scrub(text, &[]), text);
        }
        let told = "fatal: 'https://ann:s3cret@host:1/a.git/' and ssh://git@h/x, http://t@k?";
        let clean = "fatal: 'https://host:1/a.git/' and ssh://h/x, http://k?";
        assert_eq!(scrub(told, &[]), clean);
        assert_eq!(scrub("http://a@b@host/", &[]), "http://host/");
    }

    #[test]
    fn known_secrets_are_hidden_anywhere() {
        let secrets = ["s3cret".to_owned(), String::new()];
        assert_eq!(scrub("Basic s3cret; s3cret", &secrets), "Basic ***; ***");
    }

    #[test]
    fn words_of_others_stay_short() {
        let plain = plain_words(&"ä\n".repeat(300), 10);
        assert_eq!(plain, "ä ä ä ä ä …");
    }
}
