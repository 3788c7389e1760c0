//! Where agents of tests arrive and wait until they are let go.
//!
//! Knows nothing of what they do then.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode, OFlags};

use crate::Scene;

const SOON: Duration = Duration::from_mins(1);

/// Where agents arrive and wait until they are let go.
pub struct Gate {
    arrivals: File,
    way_on: File,
    heard: String,
}

/// What an agent does to arrive and wait.
pub const WAIT: &str = "echo \"$PLEACH_TASK\" > BESIDE/arrived; read go < BESIDE/gate";

/// What an agent does that adds a file.
pub const ADDS_A_FILE: &str = "echo x > file-$PLEACH_TASK";

/// What an agent does that arrives, waits, and adds a file.
pub fn patient() -> String {
    format!("{WAIT}; {ADDS_A_FILE}")
}

/// Every task is told three times to come later.
pub const LIMITED: &str = "echo +$PLEACH_TASK >> BESIDE/turns
    n=$(cat BESIDE/count-$PLEACH_TASK 2>/dev/null || echo 0)
    echo $((n + 1)) > BESIDE/count-$PLEACH_TASK
    if [ $n -lt 3 ]; then echo 'usage limit, retry after 10ms'; code=75; else echo x > file-$PLEACH_TASK; code=0; fi
    echo -$PLEACH_TASK >> BESIDE/turns
    exit $code";

impl Gate {
    /// The pipes of a scene, beside its repository.
    pub fn at(scene: &Scene) -> Self {
        let open = |name: &str| {
            let path = scene.repo.beside(name);
            make_pipe(&path);
            // Both ends, so that nobody ever waits for the other side to open.
            let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
            File::from(
                rustix::fs::open(&path, flags, Mode::empty()).expect("the pipe was just made"),
            )
        };
        Self {
            arrivals: open("arrived"),
            way_on: open("gate"),
            heard: String::new(),
        }
    }

    /// Waits until so many more have arrived, and names them in order.
    #[track_caller]
    pub fn wait_for(&mut self, count: usize) -> String {
        while self.heard.lines().count() < count || !self.heard.ends_with('\n') {
            let mut fds = [PollFd::new(&self.arrivals, PollFlags::IN)];
            let soon = Timespec::try_from(SOON).expect("a minute is a time");
            let ready = poll(&mut fds, Some(&soon)).expect("pipes can be waited for");
            assert!(ready > 0, "only {:?} arrived", self.heard);
            let mut bytes = [0; 256];
            let length = self
                .arrivals
                .read(&mut bytes)
                .expect("what came can be read");
            self.heard
                .push_str(std::str::from_utf8(&bytes[..length]).expect("names of tasks are text"));
        }
        let heard = std::mem::take(&mut self.heard);
        let mut names: Vec<&str> = heard.lines().collect();
        assert_eq!(names.len(), count, "{names:?} arrived");
        names.sort_unstable();
        names.join(" ")
    }

    pub fn is_empty(&self) -> bool {
        let mut fds = [PollFd::new(&self.arrivals, PollFlags::IN)];
        let now = Timespec::try_from(Duration::ZERO).expect("no time is a time");
        poll(&mut fds, Some(&now)).expect("pipes can be waited for") == 0
    }

    pub fn let_go(&mut self, count: usize) {
        self.way_on
            .write_all("go\n".repeat(count).as_bytes())
            .expect("a pipe holds a few words");
    }
}

pub fn make_pipe(path: &Path) {
    rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0)
        .expect("a pipe can be made there");
}
