//! What holds a unit to its owner: signs of life, logs, and the word of the owner.
//!
//! A machine that cannot reach the folder of its submission for a lease ends what it runs, and itself.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use pleach_system::process::Cancel;

use super::Node;
use super::snapshots::LastSnapshot;
use crate::spool::{Control, Heartbeat, LogLengths, NodePhase, SubmissionFolder, UnitFolder};

/// The logs that there may be, by what writes them.
const ROLES: [&str; 3] = ["setup", "agent", "validate"];

/// How often logs are looked at from one beat to the next: whoever follows one sees a line within seconds.
const LOOKS_PER_BEAT: u32 = 5;

/// The owner's word is read at each such look: whoever cancels a batch hears within the time that agents have.
const LOOKS_PER_WORD: u32 = 2;

/// How long what runs may take to end after the lease, before this process goes and takes it along.
const LAST_GRACE: Duration = Duration::from_secs(2);

pub(super) struct Tether {
    say: Sender<TetherRequest>,
    thread: JoinHandle<()>,
}

enum TetherRequest {
    /// Copy all there is of the logs, and say so.
    Flush(Sender<io::Result<()>>),
    /// The result is there.
    Done(Sender<io::Result<()>>),
}

struct OwnerLink {
    place: UnitFolder,
    submission: SubmissionFolder,
    unit: u32,
    /// Where the logs are written on this machine.
    from: PathBuf,
    cancel: Cancel,
    heartbeat: Heartbeat,
    snapshot: LastSnapshot,
    /// When the owner was last heard.
    beaten: Duration,
    looks: u32,
}

/// Whether the owner's word was read after a beat.
enum Contact {
    Made,
    NotDue,
}

impl Tether {
    pub(super) fn begin(node: &Node, snapshot: &LastSnapshot) -> io::Result<Self> {
        let mut link = OwnerLink {
            place: node.place.clone(),
            submission: node.submission.clone(),
            unit: node.order.unit,
            from: node.logs(),
            cancel: node.cancel.clone(),
            heartbeat: Heartbeat {
                // One that heard secrets has said that it lives.
                beat: 1,
                fence: node.order.fence.clone(),
                phase: NodePhase::Claimed,
                node: node.host.clone(),
                job: None,
                logs: LogLengths::new(),
                live: 0,
            },
            snapshot: Arc::clone(snapshot),
            beaten: Duration::ZERO,
            looks: 0,
        };
        link.beat()?;
        link.heartbeat.phase = NodePhase::Working;
        let (say, asked) = channel();
        let pace = node.head.pace;
        let reached = Arc::new(Mutex::new(since_boot()));
        watch_over(node.cancel.clone(), Arc::clone(&reached), pace.lease);
        let thread = thread::Builder::new().spawn(move || {
            loop {
                // The owner counts from the beat at the latest, and what follows it may take long.
                let began = since_boot();
                if matches!(link.keep_up(pace.beat), Ok(Contact::Made)) {
                    *reached.lock().unwrap_or_else(PoisonError::into_inner) = began;
                }
                match asked.recv_timeout(pace.beat / LOOKS_PER_BEAT) {
                    Ok(TetherRequest::Flush(done)) => {
                        let _ = done.send(link.copy_logs());
                    }
                    Ok(TetherRequest::Done(done)) => {
                        link.heartbeat.phase = NodePhase::Done;
                        let _ = done.send(link.beat());
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        })?;
        Ok(Self { say, thread })
    }

    /// Brings the logs over as far as they go.
    pub(super) fn flush(&self) -> io::Result<()> {
        self.ask(TetherRequest::Flush)
    }

    /// Says that the result is there; nothing is said after that.
    pub(super) fn finish(&self) -> io::Result<()> {
        self.ask(TetherRequest::Done)
    }

    pub(super) fn end(self) -> io::Result<()> {
        drop(self.say);
        self.thread.join().map_err(|_| io::ErrorKind::Other.into())
    }

    fn ask(&self, asked: impl FnOnce(Sender<io::Result<()>>) -> TetherRequest) -> io::Result<()> {
        let (done, is_done) = channel();
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        self.say.send(asked(done)).map_err(|_| gone())?;
        is_done.recv().map_err(|_| gone())?
    }
}

impl OwnerLink {
    /// Does everything that is due; an error says that the owner is out of reach.
    fn keep_up(&mut self, pace: Duration) -> io::Result<Contact> {
        let before = self.heartbeat.logs.clone();
        // A full share is no share that is gone: what does not fit is copied later.
        let _ = self.copy_logs();
        let is_due = since_boot().saturating_sub(self.beaten) >= pace;
        if is_due || self.heartbeat.logs != before {
            self.beat()?;
        }
        self.looks = self.looks.wrapping_add(1);
        if is_due {
            self.beaten = since_boot();
        } else if !self.looks.is_multiple_of(LOOKS_PER_WORD) {
            return Ok(Contact::NotDue);
        }
        self.hear()?;
        // The owner counts beats alone.
        Ok(if is_due {
            Contact::Made
        } else {
            Contact::NotDue
        })
    }

    /// Does what the owner wants.
    fn hear(&self) -> io::Result<()> {
        match self.submission.heard(self.unit) {
            Ok(Control::Go) => {}
            Ok(Control::Stop) => self.cancel.cancel(),
            Ok(Control::StopAtOnce) => self.cancel.cancel_at_once(),
            // Nobody takes what comes from here any more.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.cancel.cancel_at_once();
                return Err(error);
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn beat(&mut self) -> io::Result<()> {
        self.heartbeat.beat += 1;
        self.heartbeat.live = self.snapshot.load(Ordering::Relaxed);
        self.place.beat(&self.heartbeat)
    }

    fn copy_logs(&mut self) -> io::Result<()> {
        for role in ROLES {
            let from = self.from.join(format!("{role}.log"));
            let copied = self.heartbeat.logs.get(role).copied().unwrap_or(0);
            let length = append_news(&from, copied, &self.place.log(role))?;
            if length > 0 {
                self.heartbeat.logs.insert(role.to_owned(), length);
            }
        }
        Ok(())
    }
}

/// Appends what a log has beyond a length to its copy; how long both are then.
fn append_news(from: &Path, copied: u64, to: &Path) -> io::Result<u64> {
    let mut source = match File::open(from) {
        Ok(source) => source,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(copied),
        Err(error) => return Err(error),
    };
    if source.metadata()?.len() <= copied {
        return Ok(copied);
    }
    source.seek(SeekFrom::Start(copied))?;
    let mut options = File::options();
    let mut copy = options
        .create(true)
        .write(true)
        .truncate(false)
        .mode(0o600)
        .open(to)?;
    // At its place and not at the end: what an earlier try wrote of it is written over.
    copy.seek(SeekFrom::Start(copied))?;
    let news = io::copy(&mut source.take(u64::MAX), &mut copy)?;
    copy.sync_data()?;
    Ok(copied + news)
}

/// Ends everything if the owner cannot be reached for a lease, even if the thread that tries hangs.
fn watch_over(cancel: Cancel, reached: Arc<Mutex<Duration>>, lease: Duration) {
    thread::spawn(move || {
        loop {
            let last = *reached.lock().unwrap_or_else(PoisonError::into_inner);
            let silent = since_boot().saturating_sub(last);
            if silent >= lease {
                break;
            }
            thread::sleep(lease.saturating_sub(silent));
        }
        cancel.cancel_at_once();
        thread::sleep(LAST_GRACE);
        // Whatever is left has a wrapper that ends it when this process is gone. Machines where units fail are avoided,
        // and this one did nothing wrong.
        std::process::exit(0);
    });
}

/// By a clock that goes on while the machine sleeps.
fn since_boot() -> Duration {
    let now = clock_gettime(ClockId::Boottime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
    Duration::from_secs(seconds) + Duration::from_nanos(now.tv_nsec.try_into().unwrap_or_default())
}
