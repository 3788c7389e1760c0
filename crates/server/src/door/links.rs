//! Links that let one browser in, once.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::token::random_word;

/// How long a link waits to be used.
const LIFETIME: Duration = Duration::from_mins(15);
/// Nobody needs more at once; the oldest goes.
const MOST: usize = 32;

/// The codes of links that were not used yet.
#[derive(Debug, Default)]
pub(crate) struct Links(Mutex<HashMap<String, Instant>>);

impl Links {
    /// The code of a new link.
    pub(crate) fn issue(&self) -> String {
        let code = random_word();
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|_, made| made.elapsed() < LIFETIME);
        if open.len() >= MOST
            && let Some(oldest) = open
                .iter()
                .min_by_key(|(_, made)| **made)
                .map(|(code, _)| code.clone())
        {
            open.remove(&oldest);
        }
        open.insert(code.clone(), Instant::now());
        code
    }

    /// Uses a link up; tells whether there was one.
    pub(super) fn redeem(&self, code: &str) -> bool {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.remove(code)
            .is_some_and(|made| made.elapsed() < LIFETIME)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_lets_in_once() {
        let links = Links::default();
        let code = links.issue();
        assert!(!links.redeem("another"));
        assert!(links.redeem(&code));
        assert!(!links.redeem(&code));
    }

    #[test]
    fn many_links_push_out_the_oldest() {
        let links = Links::default();
        let first = links.issue();
        let later: Vec<String> = (0..MOST).map(|_| links.issue()).collect();
        assert!(!links.redeem(&first));
        assert!(later.iter().all(|code| links.redeem(code)));
    }
}
