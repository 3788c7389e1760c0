//! One process owns a batch, and others reach it through its door.

mod children;
mod guests;
mod requests;

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use pleach_log::ownership::{Answer, BatchLock, Door, Reply, Request};
use tempfile::TempDir;

/// How long anything here may take before it counts as hanging.
const LONG: Duration = Duration::from_secs(20);

/// The folder of a batch of a test's own, with a name longer than addresses of sockets may be.
struct Folder {
    _home: TempDir,
    path: PathBuf,
}

impl Folder {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a-long-name".repeat(15)).join("7");
        std::fs::create_dir_all(&path).unwrap();
        Self { _home: home, path }
    }

    /// The key of whoever has the batch, as others of the same user read it.
    fn key(&self) -> String {
        let lock = std::fs::read_to_string(self.path.join("lock")).unwrap();
        lock.trim_end().rsplit(' ').next().unwrap().to_owned()
    }

    fn socket(&self) -> PathBuf {
        self.path.join("socket")
    }

    fn lock(&self) -> BatchLock {
        BatchLock::take(&self.path).unwrap().unwrap()
    }
}

/// The owner of a batch, which puts what it hears into a queue.
struct Owner {
    inbox: Receiver<(Request, Reply)>,
    /// Who came without the key.
    strangers: Receiver<i32>,
    door: Door,
    lock: BatchLock,
}

impl Owner {
    fn of(folder: &Path) -> Self {
        let lock = BatchLock::take(folder).unwrap().unwrap();
        let (sender, inbox) = channel();
        let (telling, strangers) = channel();
        let door = Door::open(
            &lock,
            move |request, reply| sender.send((request, reply)).unwrap(),
            move |stranger| telling.send(stranger.pid).unwrap(),
        );
        Self {
            inbox,
            strangers,
            door: door.unwrap(),
            lock,
        }
    }

    fn next(&self) -> (Request, Reply) {
        self.inbox.recv_timeout(LONG).unwrap()
    }
}

fn done(message: &str) -> Answer {
    Answer::Done {
        message: message.into(),
    }
}
