//! Deletes what was moved away, behind everybody's back.
//!
//! Knows nothing of what was in it: whoever moves something here has kept it before.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use pleach_system::files::removal::remove_all;

use crate::git::{Store, StoreError};

/// Begins the names of folders that wait for their deletion.
const PREFIX: &str = ".trash-";

#[derive(Debug)]
pub(super) enum TrashItem {
    Path(PathBuf),
    /// A link in the store that names a folder, which lies where the worktree was.
    Noted(PathBuf),
    /// The sign of a process in that folder of notes, which stays as long as a note of it does.
    Sign {
        file: PathBuf,
        notes: PathBuf,
    },
}

enum TrashRequest {
    Delete(TrashItem),
    Answer(Sender<()>),
}

static DELETER: OnceLock<Sender<TrashRequest>> = OnceLock::new();

/// Waits until everything is deleted that was moved away so far.
///
/// What is left when the process ends earlier is deleted by the next one.
pub fn finish_removals() {
    let (done, waiting) = channel();
    let asked = DELETER
        .get()
        .and_then(|queue| queue.send(TrashRequest::Answer(done)).ok());
    if asked.is_some() {
        // An error says that the thread has ended, and with it all that it had to do.
        let _ = waiting.recv();
    }
}

/// Deletes on a thread of its own, one after the other.
pub(super) fn delete_later(waste: TrashItem) {
    let queue = DELETER.get_or_init(|| {
        let (queue, messages) = channel();
        // Where no thread can be had, sending fails and the caller does it.
        let _ = thread::Builder::new()
            .name("deleter".to_owned())
            .spawn(move || {
                let mut waiting = Vec::new();
                for message in messages {
                    let done = match message {
                        TrashRequest::Delete(waste) => {
                            waiting.push((waste, Instant::now()));
                            None
                        }
                        TrashRequest::Answer(done) => Some(done),
                    };
                    let is_open = |(waste, since): &(TrashItem, Instant)| {
                        !waste.try_to_delete() && since.elapsed() < PATIENCE
                    };
                    waiting.retain(is_open);
                    done.map(|done| done.send(()));
                }
            });
        queue
    });
    if let Err(unsent) = queue.send(TrashRequest::Delete(waste))
        && let TrashRequest::Delete(waste) = unsent.0
    {
        waste.try_to_delete();
    }
}

/// A git that goes on for a killed process may write to what is being deleted, for so long at most.
const PATIENCE: Duration = Duration::from_secs(30);

impl TrashItem {
    /// Deletes it; what cannot be deleted stays noted, and is tried again, also by later processes.
    fn try_to_delete(&self) -> bool {
        match self {
            Self::Path(path) => remove_all(path).is_ok(),
            Self::Sign { file, notes } => {
                let sign = file.file_name().unwrap_or_default().to_string_lossy();
                let is_last = noted_by(notes, &sign).is_empty();
                is_last && remove_all(file).is_ok()
            }
            Self::Noted(note) => {
                let folder = fs::read_link(note).ok().filter(|path| is_trash(path));
                let is_gone = folder.is_none_or(|folder| remove_all(&folder).is_ok());
                is_gone && remove_all(note).is_ok()
            }
        }
    }
}

/// Moves a folder out of sight, to a name beside it that the store notes first.
pub(super) fn move_away(store: &Store, path: &Path) -> Result<TrashItem, StoreError> {
    let (note, aside) = note_beside(store, path)?;
    match fs::rename(path, &aside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            let _ = fs::remove_file(&note);
            Err(StoreError::io("move away", path)(error))
        }
        _ => Ok(TrashItem::Noted(note)),
    }
}

/// Makes a folder beside another one that is deleted when its process dies, or when it is said to be waste.
pub(super) fn make_room(store: &Store, beside: &Path) -> Result<(TrashItem, PathBuf), StoreError> {
    let (note, room) = note_beside(store, beside)?;
    match fs::create_dir(&room) {
        Err(error) => {
            let _ = fs::remove_file(&note);
            Err(StoreError::io("create", &room)(error))
        }
        Ok(()) => Ok((TrashItem::Noted(note), room)),
    }
}

/// A name beside a folder that nobody else has, and the note about it.
fn note_beside(store: &Store, path: &Path) -> Result<(PathBuf, PathBuf), StoreError> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let notes = notes(store);
    let sign = store.sign()?;
    let mut aside = PathBuf::new();
    let note = fs::create_dir_all(&notes).and_then(|()| {
        let note = tempfile::Builder::new()
            .prefix(&format!("{sign}-"))
            .make_in(&notes, |note| {
                let name = note.file_name().unwrap_or_default().to_string_lossy();
                aside = folder.join(format!("{PREFIX}{name}"));
                symlink(&aside, note)
            })?;
        let ((), note) = note.keep()?;
        Ok(note)
    });
    let note = note.map_err(StoreError::io("write to", &notes))?;
    Ok((note, aside))
}

/// What a process moved away and did not come to delete; last its sign, so that another process
/// goes on if this one is killed as well.
pub(super) fn left_by(store: &Store, sign: &str) -> Vec<TrashItem> {
    let notes = notes(store);
    let mut waste: Vec<TrashItem> = noted_by(&notes, sign)
        .into_iter()
        .map(TrashItem::Noted)
        .collect();
    let file = store.signs().join(sign);
    waste.push(TrashItem::Sign { file, notes });
    waste
}

fn noted_by(notes: &Path, sign: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(notes).into_iter().flatten().flatten();
    entries
        .filter(|entry| is_of(&entry.file_name().to_string_lossy(), sign))
        .map(|entry| entry.path())
        .collect()
}

/// The sign that a name begins with; it has one dash in it and another one after it.
pub(super) fn sign_in(name: &str) -> Option<String> {
    let mut parts = name.splitn(3, '-');
    Some(format!("{}-{}", parts.next()?, parts.next()?))
}

/// Whether a name begins with the sign of a process and a dash.
fn is_of(name: &str, sign: &str) -> bool {
    name.strip_prefix(sign)
        .is_some_and(|rest| rest.starts_with('-'))
}

fn notes(store: &Store) -> PathBuf {
    store.home().join("trash")
}

fn is_trash(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with(PREFIX))
}
