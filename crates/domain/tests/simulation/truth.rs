//! What is so in the world, whether anybody knows it or not: whose work is broken, and what does not merge.
//!
//! Versions of work are told apart by the names of their commits; the same ones always fare the same.

use crate::dice::Dice;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Truth {
    salt: u64,
}

impl Truth {
    pub(crate) fn new(salt: u64) -> Self {
        Self { salt }
    }

    /// Dice that fall the same for the same words.
    pub(crate) fn dice(self, words: &[&str]) -> Dice {
        let bytes = words.iter().flat_map(|word| word.bytes().chain([0]));
        let start = self.salt ^ 0xcbf2_9ce4_8422_2325;
        Dice::new(bytes.fold(start, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        }))
    }

    pub(crate) fn is_guilty(self, version: &str) -> bool {
        self.dice(&["guilty", version]).one_in(9)
    }

    /// Whether two that are fine by themselves are not so together.
    pub(crate) fn clash(self, one: &str, other: &str) -> bool {
        let (one, other) = (one.min(other), one.max(other));
        self.dice(&["clash", one, other]).one_in(25)
    }

    pub(crate) fn base_is_red(self, base: &str) -> bool {
        self.dice(&["base", base]).one_in(15)
    }

    /// Whether a branch does not merge without another one that it was woven onto.
    pub(crate) fn leans_on(self, version: &str, gone: &str) -> bool {
        self.dice(&["leans", version, gone]).one_in(3)
    }

    pub(crate) fn falls_off(self, version: &str, base: &str) -> bool {
        self.dice(&["falls", version, base]).one_in(8)
    }

    /// What the tests say of these versions on that base.
    pub(crate) fn is_red(self, base: &str, versions: &[&str]) -> bool {
        let clashes = |at: usize| {
            let mut before = versions[..at].iter();
            before.any(|before| self.clash(before, versions[at]))
        };
        let mut places = 0..versions.len();
        self.base_is_red(base) || places.any(|at| self.is_guilty(versions[at]) || clashes(at))
    }
}
