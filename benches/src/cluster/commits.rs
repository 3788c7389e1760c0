//! Counts what is stored in a database, transaction by transaction, as its log of writes tells.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

const HEAD: usize = 32;
const HEAD_OF_FRAME: usize = 24;

/// Keeps the log from being begun anew, for as long as it is there.
pub(super) struct Commits {
    log: PathBuf,
    _reader: Connection,
}

impl Commits {
    pub(super) fn of(database: &Path) -> Self {
        let reader = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY);
        let reader = reader.expect("it is there");
        let begun = reader.execute_batch("BEGIN; SELECT count(*) FROM batch;");
        begun.expect("it can be read");
        Self {
            log: PathBuf::from(format!("{}-wal", database.display())),
            _reader: reader,
        }
    }

    /// How many transactions the log has; the last frame of each says how large the database is then.
    pub(super) fn count(&self) -> usize {
        let log = fs::read(&self.log).expect("whoever reads has one");
        let word = |at: usize| log.get(at..at + 4).and_then(|four| four.try_into().ok());
        let number = |at: usize| word(at).map_or(0, u32::from_be_bytes);
        let frame = HEAD_OF_FRAME + number(8) as usize;
        let salts = log.get(16..24);
        let frames = (HEAD..log.len()).step_by(frame);
        // Behind the last one there may be some of an earlier log.
        let frames = frames.take_while(|at| log.get(at + 8..at + 16) == salts);
        frames.filter(|at| number(at + 4) > 0).count()
    }
}
