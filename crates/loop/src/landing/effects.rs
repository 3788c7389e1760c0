//! What the messages of commits do on a forge once these are merged: close issues, mention people, sign off.
//!
//! Agents' own commits are theirs, so this is told and not changed.

use pleach_git::git::read::text;
use pleach_git::git::{CommitId, Store, parse_id};
use pleach_git::weave::reading::Reading;
use pleach_system::text::neutral_text::is_sign_off;

use super::scan::ScanError;

/// The words before the name of an issue that close it, on one forge or another.
const CLOSING: [&str; 13] = [
    "close",
    "closes",
    "closed",
    "closing",
    "fix",
    "fixes",
    "fixed",
    "fixing",
    "resolve",
    "resolves",
    "resolved",
    "implements",
    "implement",
];

/// Commits that do something on a forge, the oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommitEffects {
    pub close: Vec<CommitId>,
    pub mention: Vec<CommitId>,
    pub sign_off: Vec<CommitId>,
}

impl CommitEffects {
    /// Those of the commits up to `tip` that are neither in the base nor on the server.
    pub(crate) fn find(
        store: &Store,
        base: &CommitId,
        there: &[CommitId],
        tip: &CommitId,
    ) -> Result<Self, ScanError> {
        let known = [base].into_iter().chain(there);
        let known = known.map(|commit| format!("^{commit}"));
        let list = ["rev-list", "--topo-order", "--reverse", tip.as_str()];
        let printed = text(&store.call().args(list).args(known).output()?);
        let reading = Reading::open(store)?;
        let mut effects = Self::default();
        for line in printed.lines() {
            let commit: CommitId = parse_id("rev-list", line.as_bytes())?;
            let words = text(&reading.words_of(&commit)?);
            let message = words.split_once("\n\n").map_or("", |(_, message)| message);
            effects.take_in(&commit, message);
        }
        Ok(effects)
    }

    fn take_in(&mut self, commit: &CommitId, message: &str) {
        if closes(message) {
            self.close.push(commit.clone());
        }
        if mentions(message) {
            self.mention.push(commit.clone());
        }
        if message.lines().any(is_sign_off) {
            self.sign_off.push(commit.clone());
        }
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

fn closes(message: &str) -> bool {
    let words: Vec<&str> = message.split_whitespace().collect();
    words.windows(2).any(|pair| {
        let word = pair[0].trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let is_closing = CLOSING
            .iter()
            .any(|closing| word.eq_ignore_ascii_case(closing));
        is_closing && names_issue(pair[1])
    })
}

/// Whether a word is `#12`, `acme/x#12`, `!12`, `GH-12` or the address of an issue.
fn names_issue(word: &str) -> bool {
    let digit_behind = |sign: char| {
        let mut behind = word.split(sign).skip(1);
        behind.any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let is_address = word.contains("://") && (word.contains("/issues/") || word.contains("/pull"));
    let is_of_github = word
        .get(..3)
        .is_some_and(|start| start.eq_ignore_ascii_case("gh-"));
    digit_behind('#') || digit_behind('!') || is_address || (is_of_github && digit_behind('-'))
}

fn mentions(message: &str) -> bool {
    message.match_indices('@').any(|(at, _)| {
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '+');
        let before = message[..at].chars().next_back();
        let after = message[at + 1..].chars().next();
        after.is_some_and(char::is_alphanumeric) && !before.is_some_and(is_name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_closes_an_issue_is_told_from_talk() {
        for message in [
            "a\n\nCloses #3",
            "fixes: acme/x#12.",
            "RESOLVED GH-7",
            "fix https://github.com/acme/x/issues/3",
        ] {
            assert!(closes(message), "{message}");
        }
        for message in ["fix the parser", "see #3", "closes the file", "fix UTF-8"] {
            assert!(!closes(message), "{message}");
        }
    }

    #[test]
    fn a_mention_is_no_address_of_mail() {
        assert!(mentions("@octocat") && mentions("ask (@acme/team)"));
        assert!(!mentions("By: a <a.b@example.com>") && !mentions("a @ b"));
        assert!(is_sign_off("signed-off-by: A <a@b>") && !is_sign_off("Signed-off-by nobody"));
    }
}
