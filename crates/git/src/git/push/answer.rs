//! Reads what git tells of a push that failed.
//!
//! Goes by the lines for programs; words of the server are passed on, cleaned.

use crate::git::GitError;
use crate::git::error::{plain_words, scrub};

/// No server needs more to say why.
const MOST_WORDS: usize = 600;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Our own git, because something would be lost.
    ByGit,
    /// The server, for reasons of its own.
    ByTheServer { words: String },
}

impl Refusal {
    /// Looks for a refusal; a push that failed otherwise has none.
    pub(super) fn read(stdout: &[u8], stderr: &[u8], secrets: &[String]) -> Option<Self> {
        let stdout = String::from_utf8_lossy(stdout);
        let mut refused = stdout.lines().filter_map(|line| line.strip_prefix("!\t"));
        let summary = refused.next()?.split('\t').nth(1)?;
        if summary.starts_with("[rejected]") {
            return Some(Self::ByGit);
        }
        let reason = summary
            .split_once('(')
            .map_or(summary, |(_, reason)| reason);
        let reason = reason.strip_suffix(')').unwrap_or(reason);
        let stderr = String::from_utf8_lossy(stderr);
        let said = stderr
            .lines()
            .filter_map(|line| line.strip_prefix("remote:"));
        let said = said.map(str::trim).filter(|line| !line.is_empty());
        let said: Vec<_> = said.chain([reason.trim()]).collect();
        let words = plain_words(&scrub(&said.join("; "), secrets), MOST_WORDS);
        Some(Self::ByTheServer { words })
    }
}

/// The status of HTTP that git gave up on, if that is why it failed.
pub(super) fn http_status(error: &GitError) -> Option<u16> {
    let GitError::Failed { stderr, .. } = error else {
        return None;
    };
    let (_, after) = stderr.rsplit_once("The requested URL returned error: ")?;
    let digits = after.find(|c: char| !c.is_ascii_digit());
    after[..digits.unwrap_or(after.len())].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(stdout: &str, stderr: &str) -> Option<Refusal> {
        Refusal::read(stdout.as_bytes(), stderr.as_bytes(), &["s3cret".into()])
    }

    #[test]
    fn our_own_refusal_and_the_servers_are_told_apart() {
        let own = "To x\n!\ta:refs/heads/b\t[rejected] (fetch first)\nDone\n";
        assert_eq!(read(own, "remote: nothing"), Some(Refusal::ByGit));
        let theirs =
            "To x\n!\ta:refs/heads/b\t[remote rejected] (protected branch hook declined)\nDone\n";
        let said = "remote: \u{1b}[31merror\u{1b}[m: GH006, s3cret.   \nremote:\nremote: Ask\tAnn.\nerror: failed";
        let words = "error: GH006, ***.; Ask Ann.; protected branch hook declined";
        let words = words.to_owned();
        assert_eq!(read(theirs, said), Some(Refusal::ByTheServer { words }));
        assert_eq!(read("To x\n", "fatal: the remote end hung up"), None);
        assert_eq!(read("", ""), None);
    }

    #[test]
    fn the_status_is_that_of_the_last_answer() {
        let failed = |stderr: &str| GitError::Failed {
            what: "push".into(),
            code: 128,
            stderr: stderr.into(),
        };
        let said = "fatal: unable to access 'http://h/a/': The requested URL returned error: 403";
        assert_eq!(http_status(&failed(said)), Some(403));
        assert_eq!(http_status(&failed("fatal: early EOF")), None);
    }
}
