//! A log that grows, heard line by line from where it was left.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

use crate::agent_report::AgentReport;

/// Of a longer line, only the beginning is heard.
const LONGEST_LINE: usize = 1 << 20;
/// What is read at one look at most, so that one log does not keep the others waiting.
const MOST_AT_ONCE: u64 = 4 << 20;

#[derive(Debug)]
pub(super) struct HeardLog {
    path: PathBuf,
    attempt: u32,
    read: u64,
    total: u64,
    line: Vec<u8>,
    said: AgentReport,
}

impl HeardLog {
    pub(super) fn new(path: PathBuf, attempt: u32) -> Self {
        Self {
            path,
            attempt,
            read: 0,
            total: 0,
            line: Vec::new(),
            said: AgentReport::default(),
        }
    }

    pub(super) fn attempt(&self) -> u32 {
        self.attempt
    }

    /// How many lines ended so far.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    pub(super) fn said(&self) -> &AgentReport {
        &self.said
    }

    /// Reads what is new; tells whether another line ended.
    pub(super) fn listen(&mut self) -> bool {
        let size = std::fs::metadata(&self.path).map_or(0, |file| file.len());
        if size <= self.read {
            return false;
        }
        let before = self.total;
        // Tried again at the next look.
        let _ = self.read_on();
        self.total != before
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
            self.take(&buffer[..length]);
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = LONGEST_LINE.saturating_sub(self.line.len());
            self.line.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                self.said.hear(&self.line);
                self.line.clear();
                self.total += 1;
            }
        }
    }
}
