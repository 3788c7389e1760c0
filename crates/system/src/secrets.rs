//! The values that must never be seen in what Pleach writes and says, and how they are hidden.
//!
//! Collects them where they are known; a text or a stream that may hold one goes through a [`Hider`].

mod colours;
mod encodings;
mod finder;
mod hider;
mod rules;
mod sources;
mod words;

use std::fmt;
use std::path::Path;

use crate::variables::is_allowed_to_all;

pub use hider::Hider;
pub(crate) use hider::HidingStream;
pub use rules::{SecretHit, hits};

/// A shorter value stands in too many texts that have nothing to do with it.
const SHORTEST: usize = 8;

/// So many values are looked for at most, and none that is longer than this.
const MOST: usize = 500;
const LONGEST: usize = 8_192;

/// The longest name that takes the place of a value.
const LONGEST_NAME: usize = 40;

/// Values that must not be seen, each with the name that is seen instead.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets {
    values: Vec<(String, Vec<u8>)>,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.values.len())
    }
}

impl Secrets {
    /// Those of our own environment, and what is passed on to programs by name.
    pub fn of_environment(passed_on: &[String]) -> Self {
        let mut secrets = Self::default();
        for (name, value) in std::env::vars_os() {
            let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
            if !is_allowed_to_all(&name) {
                let is_passed_on = passed_on.iter().any(|passed| *passed == name);
                sources::of_variable(&name, &value, is_passed_on, &mut secrets);
            }
        }
        secrets
    }

    pub fn add_setting(&mut self, key: &str, value: &str) {
        sources::of_setting(key, value, self);
    }

    pub fn add_file(&mut self, path: &Path) {
        sources::in_file(path, self);
    }

    /// Adds a value by the name that is to be seen instead; one that cannot be hidden sensibly is left alone.
    pub fn add(&mut self, name: &str, value: &str) {
        let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || *letter == '_';
        let name: String = name.chars().filter(is_plain).take(LONGEST_NAME).collect();
        // Whatever prints it line by line prints each of them.
        for line in value.lines().map(str::trim) {
            let length = line.chars().count();
            let is_fence = line.starts_with("-----");
            let is_known = |(_, known): &(_, Vec<u8>)| known == line.as_bytes();
            if (SHORTEST..=LONGEST).contains(&length)
                && !is_fence
                && self.values.len() < MOST
                && !self.values.iter().any(is_known)
            {
                self.values.push((name.clone(), line.into()));
            }
        }
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let values = self.values.iter();
        values.map(|(name, value)| (name.as_str(), value.as_slice()))
    }

    /// The same ones, from somewhere that has had them already.
    pub(crate) fn from_values(values: Vec<(String, Vec<u8>)>) -> Self {
        Self { values }
    }

    pub fn hider(&self) -> Hider {
        Hider::new(self)
    }
}
