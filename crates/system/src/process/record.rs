//! The result record: all that the engine believes of a program that ran.
//!
//! Knows nothing of how it came about.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessRecord {
    /// The wrapper that wrote it.
    pub nonce: String,
    pub ending: Ending,
    /// What it had left running when it ended by itself: names with process numbers, all ended since.
    pub leaked: Vec<String>,
    /// What could not be ended.
    pub survivors: Vec<String>,
    pub output: Output,
    /// When it was started, in milliseconds since 1970.
    pub started_at: u64,
    /// When nothing of it was left.
    pub ended_at: u64,
    /// What it and everything it started took of processors, in milliseconds.
    pub cpu_ms: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    pub bytes: u64,
    /// Those in the middle that were beyond the log's cap.
    pub left_out: u64,
    /// Those that the log had no room for.
    pub unwritten: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "value", rename_all = "snake_case")]
pub enum Ending {
    Exited(i32),
    /// By a signal that was not ours.
    Signalled(i32),
    TimedOut,
    /// Stopped by us, because it had said nothing for too long.
    Stalled,
    Cancelled,
    /// Stopped by its wrapper, because the engine was gone.
    Abandoned,
    /// It never began, for this reason.
    NotStarted(String),
    /// Its wrapper was killed; what was found of it has been ended.
    Vanished,
}

impl ProcessRecord {
    /// The record of a program of which nothing is known but its end.
    pub(super) fn bare(nonce: &str, ending: Ending) -> Self {
        let now = unix_ms();
        Self {
            nonce: nonce.to_owned(),
            ending,
            leaked: Vec::new(),
            survivors: Vec::new(),
            output: Output::default(),
            started_at: now,
            ended_at: now,
            cpu_ms: 0,
        }
    }

    /// Writes it, whole or not at all.
    pub(super) fn store(&self, path: &Path) -> io::Result<()> {
        let name = path.file_name().unwrap_or_default();
        let mut new_name = name.to_owned();
        new_name.push(".new");
        let new = path.with_file_name(new_name);
        let mut file = File::options()
            .create(true)
            .truncate(true)
            .write(true)
            .mode(0o600)
            .open(&new)?;
        file.write_all(&serde_json::to_vec(self)?)?;
        file.sync_all()?;
        fs::rename(&new, path)
    }
}

/// The record that a wrapper wrote; nothing if there is none, or it is torn or another's.
pub fn load_record(path: &Path, nonce: &str) -> Option<ProcessRecord> {
    let bytes = fs::read(path).ok()?;
    let record: ProcessRecord = serde_json::from_slice(&bytes).ok()?;
    (record.nonce == nonce).then_some(record)
}

pub(super) fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_comes_back_unless_it_is_torn_or_of_another_wrapper() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("exit.json");
        assert_eq!(load_record(&path, "mine"), None);
        let endings = [
            Ending::Exited(3),
            Ending::Stalled,
            Ending::NotStarted("no \"such\" program".to_owned()),
        ];
        for ending in endings {
            let record = ProcessRecord::bare("mine", ending);
            record.store(&path).unwrap();
            assert_eq!(load_record(&path, "mine"), Some(record));
        }
        assert_eq!(load_record(&path, "yours"), None);
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(load_record(&path, "mine"), None);
        }
    }

    #[test]
    fn endings_are_words_in_lower_case() {
        let text = |ending| serde_json::to_string(&ending).unwrap();
        assert_eq!(text(Ending::TimedOut), r#"{"kind":"timed_out"}"#);
        assert_eq!(text(Ending::Exited(3)), r#"{"kind":"exited","value":3}"#);
    }
}
