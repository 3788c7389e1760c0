//! A log that grows, heard line by line from where it was left.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

use crate::agent_report::{AgentReport, ReportReader};

/// What is read at one look at most, so that one log does not keep the others waiting.
const MOST_AT_ONCE: u64 = 4 << 20;

#[derive(Debug)]
pub(super) struct HeardLog {
    path: PathBuf,
    attempt: u32,
    read: u64,
    report: ReportReader,
    /// Where it waits for a machine: what a cluster says of that.
    queued: Option<String>,
}

impl HeardLog {
    pub(super) fn new(path: PathBuf, attempt: u32) -> Self {
        Self {
            path,
            attempt,
            read: 0,
            report: ReportReader::default(),
            queued: None,
        }
    }

    pub(super) fn attempt(&self) -> u32 {
        self.attempt
    }

    /// How many lines ended so far.
    pub(super) fn total(&self) -> u64 {
        self.report.ended
    }

    pub(super) fn said(&self) -> &AgentReport {
        &self.report.said
    }

    /// What its agent does, or what it waits for.
    pub(super) fn action(&self) -> Option<String> {
        self.said().action.clone().or_else(|| self.queued.clone())
    }

    /// Takes in what it waits for, if it does; tells whether that is news.
    pub(super) fn waits_for(&mut self, line: Option<&String>) -> bool {
        let is_news = self.queued.as_ref() != line;
        if is_news {
            self.queued = line.cloned();
        }
        is_news
    }

    /// Reads what is new; tells whether another line ended.
    pub(super) fn listen(&mut self) -> bool {
        let size = std::fs::metadata(&self.path).map_or(0, |file| file.len());
        if size <= self.read {
            return false;
        }
        let before = self.report.ended;
        // Tried again at the next look.
        let _ = self.read_on();
        self.report.ended != before
    }

    fn read_on(&mut self) -> std::io::Result<()> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.read))?;
        let mut new = file.take(MOST_AT_ONCE);
        let mut buffer = vec![0; 64 << 10];
        loop {
            let length = new.read(&mut buffer)?;
            if length == 0 {
                return Ok(());
            }
            self.read += length as u64;
            self.report.take(&buffer[..length]);
        }
    }
}
