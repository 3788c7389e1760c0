//! Listens to what an agent prints while it works.
//!
//! Reads the log that the wrapper writes, a few times a second; what is not there yet is read the next time.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use super::{AttemptContext, Finished};
use pleach_engine::worktree_programs::{
    AttemptObserver, NotRun, Program, ProgramEnd, WorktreePrograms,
};
use pleach_log::agent_report::{AgentReport, ReportReader};
use pleach_log::batch_paths::{LOG, attempt_folder};

/// How often there is a look at the log.
const TICK: Duration = Duration::from_millis(200);

/// Somebody who reads a log line by line while it is written.
struct LogListener {
    path: PathBuf,
    file: Option<File>,
    report: ReportReader,
}

impl LogListener {
    fn new(log: &Path) -> Self {
        Self {
            path: log.to_owned(),
            file: None,
            report: ReportReader::default(),
        }
    }

    /// Reads what is new; tells whether that says anything new.
    fn listen(&mut self) -> bool {
        if self.file.is_none() {
            self.file = File::open(&self.path).ok();
        }
        let before = self.report.said.clone();
        let mut buffer = vec![0; 64 << 10];
        while let Some(file) = &mut self.file {
            match file.read(&mut buffer) {
                Ok(0) | Err(_) => break,
                Ok(length) => self.report.take(&buffer[..length]),
            }
        }
        self.report.said != before
    }

    /// What was said in all, a last line without an end included.
    fn finish(mut self) -> AgentReport {
        self.listen();
        self.report.finish()
    }
}

/// Does something while somebody listens to a log, and returns what was said in all.
fn listen_while<T>(
    log: &Path,
    tell: impl Fn(&AgentReport) + Send,
    work: impl FnOnce() -> T,
) -> (T, AgentReport) {
    std::thread::scope(|scope| {
        let (over, is_over) = channel::<()>();
        let mut listener = LogListener::new(log);
        let ears = std::thread::Builder::new().spawn_scoped(scope, move || {
            while is_over.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                if listener.listen() {
                    tell(&listener.report.said);
                }
            }
            listener.finish()
        });
        let done = work();
        drop(over);
        let said = match ears {
            Ok(ears) => ears.join().unwrap_or_default(),
            // Nobody could be spared to listen meanwhile.
            Err(_) => LogListener::new(log).finish(),
        };
        (done, said)
    })
}

pub(super) fn run_heard(
    agent: Program,
    programs: &WorktreePrograms<'_>,
    observer: &dyn AttemptObserver,
    finished: &mut Finished,
) -> Result<ProgramEnd, NotRun> {
    let log = programs.log(agent.role);
    let run = || programs.run(agent, observer, &mut finished.notes);
    let (ran, said) = listen_while(&log, |said| observer.said(said), run);
    finished.take_in(said);
    ran
}

impl AttemptContext {
    pub(crate) fn said_by(&self, segment: &str, attempt: u32) -> AgentReport {
        let log = attempt_folder(&self.folder, segment, attempt).join(LOG);
        LogListener::new(&log).finish()
    }
}
