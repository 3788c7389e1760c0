//! Takes typed values out of a table and says which key is wrong.
//!
//! Knows nothing of what the keys are for.

use std::ops::RangeInclusive;
use std::time::Duration;

use pleach_domain::problem::nearest;
use toml::{Table, Value};

use super::error::{ConfigError, Origin};
use super::{MaxParallel, SandboxChoice};
use crate::worktree::cached_path;

/// A value that is one of a few words.
pub(super) trait Word: Copy + PartialEq + 'static {
    /// Each word with what it means.
    const WORDS: &'static [(&'static str, Self)];
}

/// A sandbox that is one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SandboxKind {
    None,
    Landlock,
    Strict,
}

impl Word for SandboxKind {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("none", Self::None),
        ("landlock", Self::Landlock),
        ("strict", Self::Strict),
    ];
}

/// A table whose values are taken out one by one.
pub(super) struct Fields<'o> {
    origin: &'o Origin,
    /// What stands before its keys, as in `agents.mine.`.
    above: String,
    table: Table,
}

impl<'o> Fields<'o> {
    pub(super) fn of(table: Table, origin: &'o Origin) -> Self {
        Self {
            origin,
            above: String::new(),
            table,
        }
    }

    pub(super) fn keys(&self) -> Vec<String> {
        self.table.keys().cloned().collect()
    }

    /// Complains about a key that is left, for it is not known.
    pub(super) fn rest(self, known: &[&str]) -> Result<(), ConfigError> {
        let left = self.keys();
        let Some(key) = left.first() else {
            return Ok(());
        };
        let near = match key.as_str() {
            // It looks like `mode`, and is not what is meant.
            "model" => Some("model below [agents.NAME]"),
            key => nearest(key, known.iter().copied()),
        };
        Err(ConfigError::UnknownKey {
            origin: self.origin.clone(),
            key: format!("{}{key}", self.above),
            nearest: near.map(str::to_owned),
        })
    }

    pub(super) fn table(&mut self, key: &str) -> Result<Option<Self>, ConfigError> {
        match self.table.remove(key) {
            None => Ok(None),
            Some(Value::Table(table)) => Ok(Some(Self {
                origin: self.origin,
                above: format!("{}{key}.", self.above),
                table,
            })),
            Some(_) => Err(self.wrong(key, "a table")),
        }
    }

    pub(super) fn text(&mut self, key: &str) -> Result<Option<String>, ConfigError> {
        match self.table.remove(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.wrong(key, "text in quotes")),
        }
    }

    pub(super) fn list(&mut self, key: &str) -> Result<Option<Vec<String>>, ConfigError> {
        let Some(value) = self.table.remove(key) else {
            return Ok(None);
        };
        let words = value.as_array().and_then(|values| {
            let words = values.iter().map(|value| Some(value.as_str()?.to_owned()));
            words.collect()
        });
        let wanted = "a list of texts, as in [\"one\", \"two\"]";
        words.map(Some).ok_or_else(|| self.wrong(key, wanted))
    }

    /// Paths within a worktree.
    pub(super) fn cached_paths(&mut self, key: &str) -> Result<Option<Vec<String>>, ConfigError> {
        let paths = self.list(key)?;
        let mut all = paths.iter().flatten();
        if all.any(|path| cached_path(path).is_none()) {
            let wanted =
                "a list of paths in the repository, without .. and not .git, as in [\"target\"]";
            return Err(self.wrong(key, wanted));
        }
        Ok(paths)
    }

    pub(super) fn number<N: TryFrom<i64>>(
        &mut self,
        key: &str,
        range: RangeInclusive<i64>,
    ) -> Result<Option<N>, ConfigError> {
        let Some(value) = self.table.remove(key) else {
            return Ok(None);
        };
        let number = match &value {
            Value::String(text) if self.is_variable() => text.trim().parse().ok(),
            value => value.as_integer(),
        };
        let number = number.filter(|number| range.contains(number));
        let number = number.and_then(|number| N::try_from(number).ok());
        let wanted = format!("a number from {} to {}", range.start(), range.end());
        number.map(Some).ok_or_else(|| self.wrong(key, &wanted))
    }

    pub(super) fn max_parallel(&mut self, key: &str) -> Result<Option<MaxParallel>, ConfigError> {
        if self.table.get(key).and_then(Value::as_str) == Some("auto") {
            self.table.remove(key);
            return Ok(Some(MaxParallel::Auto));
        }
        let number = self.number(key, 1..=64);
        let number = number.map_err(|_| self.wrong(key, "a number from 1 to 64, or \"auto\""))?;
        Ok(number.map(MaxParallel::AtMost))
    }

    pub(super) fn sandbox(&mut self, key: &str) -> Result<Option<SandboxChoice>, ConfigError> {
        if self.table.get(key).is_some_and(Value::is_array) {
            let words = self.list(key)?.filter(|words| !words.is_empty());
            let words = words.ok_or_else(|| self.wrong(key, "a command of at least one word"))?;
            return Ok(Some(SandboxChoice::Wrapper(words)));
        }
        let kind = self.word::<SandboxKind>(key)?;
        Ok(kind.map(|kind| match kind {
            SandboxKind::None => SandboxChoice::None,
            SandboxKind::Landlock => SandboxChoice::Landlock,
            SandboxKind::Strict => SandboxChoice::Strict,
        }))
    }

    /// Dollars, as millionths of one.
    pub(super) fn money(&mut self, key: &str) -> Result<Option<u64>, ConfigError> {
        let Some(value) = self.table.remove(key) else {
            return Ok(None);
        };
        let text = match &value {
            Value::String(text) if self.is_variable() => text.trim().to_owned(),
            Value::Integer(dollars) => dollars.to_string(),
            Value::Float(dollars) => dollars.to_string(),
            _ => String::new(),
        };
        let money = millionths(&text).filter(|money| *money > 0);
        money
            .map(Some)
            .ok_or_else(|| self.wrong(key, "dollars, such as 5 or 2.50"))
    }

    /// A number of bytes; nothing at all is one too.
    pub(super) fn size(&mut self, key: &str) -> Result<Option<u64>, ConfigError> {
        let Some(value) = self.table.remove(key) else {
            return Ok(None);
        };
        let size = match &value {
            Value::String(text) => bytes(text),
            value => value.as_integer().and_then(|size| u64::try_from(size).ok()),
        };
        let wanted = "a size such as \"2GiB\" or \"500MiB\"";
        size.map(Some).ok_or_else(|| self.wrong(key, wanted))
    }

    pub(super) fn switch(&mut self, key: &str) -> Result<Option<bool>, ConfigError> {
        let Some(value) = self.table.remove(key) else {
            return Ok(None);
        };
        let is_on = match &value {
            Value::String(text) if self.is_variable() => match text.trim() {
                "true" | "yes" | "on" | "1" => Some(true),
                "false" | "no" | "off" | "0" => Some(false),
                _ => None,
            },
            value => value.as_bool(),
        };
        is_on
            .map(Some)
            .ok_or_else(|| self.wrong(key, "true or false"))
    }

    pub(super) fn time(&mut self, key: &str) -> Result<Option<Duration>, ConfigError> {
        let Some(value) = self.table.remove(key) else {
            return Ok(None);
        };
        let time = value.as_str().and_then(duration);
        time.map(Some)
            .ok_or_else(|| self.wrong(key, "a time such as \"90s\", \"30m\" or \"500ms\""))
    }

    /// A time, or none at all.
    pub(super) fn time_or_off(&mut self, key: &str) -> Result<Option<Duration>, ConfigError> {
        if self.table.get(key).and_then(|value| value.as_str()) == Some("off") {
            self.table.remove(key);
            return Ok(Some(Duration::ZERO));
        }
        if !self.table.contains_key(key) {
            return Ok(None);
        }
        let wrong = self.wrong(key, "a time such as \"30s\", or \"off\"");
        self.time(key).map_err(|_| wrong)
    }

    pub(super) fn word<W: Word>(&mut self, key: &str) -> Result<Option<W>, ConfigError> {
        let Some(value) = self.table.remove(key) else {
            return Ok(None);
        };
        let text = value.as_str().unwrap_or_default();
        let meant = W::WORDS.iter().find(|(word, _)| *word == text);
        if let Some((_, meant)) = meant {
            return Ok(Some(*meant));
        }
        let words: Vec<&str> = W::WORDS.iter().map(|(word, _)| *word).collect();
        Err(ConfigError::Wrong {
            origin: self.origin.clone(),
            key: format!("{}{key}", self.above),
            wanted: format!("one of {}", words.join(", ")),
            nearest: nearest(text, words.iter().copied()).map(str::to_owned),
        })
    }

    /// Variables are text, whatever they mean.
    fn is_variable(&self) -> bool {
        matches!(self.origin, Origin::Variable(_))
    }

    fn wrong(&self, key: &str, wanted: &str) -> ConfigError {
        ConfigError::Wrong {
            origin: self.origin.clone(),
            key: format!("{}{key}", self.above),
            wanted: wanted.to_owned(),
            nearest: None,
        }
    }
}

/// Reads dollars with up to six digits after the point.
fn millionths(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || part.len() > 6 || !is_number(whole) || !is_number(part) {
        return None;
    }
    let whole = whole.parse::<u64>().ok()?.checked_mul(1_000_000)?;
    whole.checked_add(format!("{part:0<6}").parse().ok()?)
}

/// Reads `2GiB`, `500 MiB`, `64KiB`, `0`.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit.trim() {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TiB" => 1 << 40,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

/// Reads `500ms`, `90s`, `30m`, `1h`, `2d`; nothing is no time.
pub fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let milliseconds = match unit.trim() {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    let number: u64 = number.parse().ok()?;
    let total = number.checked_mul(milliseconds)?;
    (total > 0).then(|| Duration::from_millis(total))
}
