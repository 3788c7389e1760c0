//! Asks the owner of a batch to do something, and waits until it is done.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pleach_domain::event::Rollback;
use pleach_domain::id::TaskId;
use pleach_domain::task_state::Commit;
use pleach_system::state_folder::SOCKET;
use serde::{Deserialize, Serialize};

use super::key::Key;
use super::{LOCK, OpenFolder, OwnershipError, failed, is_owned, owner};

/// How long an owner may take from its lock to its door; it looks at the user's repository first.
const OPENING: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(5);
const LONGEST_ANSWER: u64 = 1 << 20;

#[derive(Debug, Serialize)]
struct SentRequest<'r> {
    key: &'r Key,
    request: &'r Request,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    Approve,
    /// Let it start if it waits for consent to exactly this.
    ApproveConsent {
        /// What was shown to a person, by a hash.
        fingerprint: String,
    },
    /// Start nothing new, and finish what runs.
    Stop,
    Cancel {
        /// The task, or none for the whole batch.
        task: Option<TaskId>,
        rollback: Rollback,
    },
    Retry {
        /// Which; none means all that did not make it.
        tasks: Vec<TaskId>,
    },
    /// Weave what a person made of a conflict.
    Resolve {
        task: TaskId,
        /// The commit, which the store has.
        commit: Commit,
        basis: Commit,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Done {
        message: String,
    },
    Refused {
        /// The reason, as a stable word.
        code: String,
        message: String,
        hint: Option<String>,
    },
}

#[derive(Debug, thiserror::Error)]
pub enum AskError {
    #[error("no process runs the batch of {}", .0.display())]
    NobodyThere(PathBuf),
    /// The owner died before it answered, or would not listen; whether it did what was asked is not known.
    #[error("the process that runs the batch of {} exited before it answered", folder.display())]
    Broken { folder: PathBuf, source: io::Error },
    /// The owner lives, but its door does not open.
    #[error("could not reach the process that runs the batch of {}", folder.display())]
    Closed { folder: PathBuf, source: io::Error },
    /// The owner is of a version that knew no keys.
    #[error("an older version of Pleach runs the batch of {}", .0.display())]
    Older(PathBuf),
    #[error(transparent)]
    Ownership(#[from] OwnershipError),
}

/// Asks the owner of the batch whose folder that is; returns when it answers, however long that takes.
pub fn ask(folder: &Path, request: &Request) -> Result<Answer, AskError> {
    let stream = knock(folder)?;
    // After connecting: whoever opened the door has written its key by then.
    let key = load_key(folder)?.ok_or_else(|| AskError::Older(folder.to_owned()))?;
    let sent = SentRequest { key: &key, request };
    converse(stream, &sent).map_err(|source| AskError::Broken {
        folder: folder.to_owned(),
        source,
    })
}

fn load_key(folder: &Path) -> Result<Option<Key>, OwnershipError> {
    let path = folder.join(LOCK);
    let key = File::open(&path).and_then(|file| owner::key(&file));
    key.map_err(failed("read the key in", &path))
}

fn knock(folder: &Path) -> Result<UnixStream, AskError> {
    let deadline = Instant::now() + OPENING;
    loop {
        let connected =
            OpenFolder::open(folder).and_then(|place| UnixStream::connect(place.short(SOCKET)));
        let source = match connected {
            Ok(stream) => return Ok(stream),
            Err(source) => source,
        };
        let folder = folder.to_owned();
        if !is_owned(&folder)? {
            return Err(AskError::NobodyThere(folder));
        }
        let not_yet = matches!(
            source.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
        );
        if !not_yet || Instant::now() > deadline {
            return Err(AskError::Closed { folder, source });
        }
        std::thread::sleep(PAUSE);
    }
}

fn converse(mut stream: UnixStream, request: &SentRequest<'_>) -> io::Result<Answer> {
    let mut line = serde_json::to_vec(request)?;
    line.push(b'\n');
    stream.write_all(&line)?;
    let mut answer = String::new();
    BufReader::new(stream.take(LONGEST_ANSWER)).read_line(&mut answer)?;
    if answer.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_str(&answer)?)
}
