//! What attempts bring and take: commits, files that need consent, tokens and money.

use serde::{Deserialize, Serialize};

/// A commit, by its full hexadecimal name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Commit(pub String);

/// A file that steers agents or Pleach, as a task left it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SteeringFile {
    pub path: String,
    /// What is in it, by its hash; none if it is gone.
    pub blob: Option<String>,
}

/// What a person must consent to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consent {
    pub files: Vec<SteeringFile>,
}

impl Consent {
    pub fn paths(&self) -> String {
        let paths: Vec<&str> = self.files.iter().map(|file| file.path.as_str()).collect();
        paths.join(", ")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Spent {
    pub tokens: u64,
    /// In millionths of a dollar.
    pub micro_usd: u64,
}

impl std::ops::AddAssign for Spent {
    fn add_assign(&mut self, other: Self) {
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.micro_usd = self.micro_usd.saturating_add(other.micro_usd);
    }
}

impl std::ops::Sub for Spent {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(other.tokens),
            micro_usd: self.micro_usd.saturating_sub(other.micro_usd),
        }
    }
}

impl std::iter::Sum for Spent {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        let mut sum = Self::default();
        for one in all {
            sum += one;
        }
        sum
    }
}
