//! Follows what was given to the cluster: the owner's word to it, its signs of life, its logs, and what the queue says.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use pleach_log::agent_report::{AgentReport, ReportReader};
use pleach_log::batch_paths::{attempt_folder, probe_folder};
use pleach_log::database::SubmittedUnit;
use pleach_system::state_folder::private_folder;

use super::Dispatcher;
use crate::attempt::AttemptContext;
use crate::cluster::{UnitName, UnitOver};
use crate::executor::LoopHandle;
use crate::loop_input::LoopInput;
use crate::spool::{Control, Heartbeat, NodePhase, SubmissionFolder, UnitFolder, UnitWork};

/// The log that says what the agent does.
const OF_AGENT: &str = "agent";

#[derive(Debug)]
pub(super) struct FollowedUnit {
    pub(super) work: UnitWork,
    pub(super) handle: LoopHandle,
    pub(super) sent: SubmittedUnit,
    pub(super) folder: SubmissionFolder,
    /// What was said to it last.
    pub(super) said: Control,
    pub(super) heartbeat: Option<Heartbeat>,
    /// When that came, by our own clock.
    pub(super) heard_at: Instant,
    /// How much of each log is here.
    copied: HashMap<String, u64>,
    report: ReportReader,
    /// When it may be told the secrets next, or never again.
    pub(super) may_hear: Option<Instant>,
    /// How often the cluster did not name it, one time after the other.
    pub(super) misses: u32,
    /// What the cluster said when it was over there.
    pub(super) over: Option<UnitOver>,
    /// The machine that it is on, or was, as the cluster says it.
    pub(super) node: Option<String>,
    /// Whether it is not to begin after all, and is no worse for it.
    pub(super) is_taken_back: bool,
    /// What it brought when its machine was taken from it; why, the queue has yet to say.
    pub(super) brought: Option<LoopInput>,
}

impl FollowedUnit {
    pub(super) fn new(
        work: UnitWork,
        handle: LoopHandle,
        sent: SubmittedUnit,
        folder: SubmissionFolder,
    ) -> Self {
        Self {
            work,
            handle,
            sent,
            folder,
            said: Control::Go,
            heartbeat: None,
            heard_at: Instant::now(),
            copied: HashMap::new(),
            report: ReportReader::default(),
            may_hear: Some(Instant::now()),
            misses: 0,
            over: None,
            node: None,
            is_taken_back: false,
            brought: None,
        }
    }

    /// The same for one that another process sent, which copied the logs that are here.
    pub(super) fn going_on(mut self, context: &AttemptContext) -> Self {
        for entry in fs::read_dir(self.logs(context))
            .into_iter()
            .flatten()
            .flatten()
        {
            let name = entry.file_name();
            let role = name.to_str().and_then(|name| name.strip_suffix(".log"));
            let (Some(role), Ok(bytes)) = (role, fs::read(entry.path())) else {
                continue;
            };
            if role == OF_AGENT {
                self.report.take(&bytes);
            }
            self.copied.insert(role.to_owned(), bytes.len() as u64);
        }
        self
    }

    pub(super) fn place(&self) -> UnitFolder {
        self.folder.unit(self.sent.unit)
    }

    pub(super) fn name(&self) -> UnitName {
        UnitName {
            submission: self.sent.submission.clone(),
            unit: self.sent.unit,
        }
    }

    /// Where its logs are read by everybody here.
    fn logs(&self, context: &AttemptContext) -> PathBuf {
        match &self.work {
            UnitWork::Attempt(attempt) => {
                attempt_folder(&context.folder, &attempt.segment, attempt.number)
            }
            UnitWork::Probe(probe) => probe_folder(&context.folder, probe.number),
        }
    }

    /// Passes on that somebody wants it to stop; tells whether that is news.
    fn pass_on(&mut self) -> bool {
        let wanted = if self.handle.cancel.is_at_once() {
            Control::StopAtOnce
        } else if self.handle.cancel.is_cancelled() || self.is_taken_back {
            Control::Stop
        } else {
            Control::Go
        };
        // Said again next time if it does not get there.
        let is_news = wanted != self.said && self.folder.say(self.sent.unit, wanted).is_ok();
        if is_news {
            self.said = wanted;
        }
        is_news
    }

    /// Hears whether it lives, and copies what it wrote; tells whether its result is there.
    pub(super) fn listen(&mut self, context: &AttemptContext) -> bool {
        let place = self.place();
        let news = place
            .heartbeat()
            .filter(|beat| beat.fence == self.sent.fence);
        let Some(news) = news.filter(|news| self.heartbeat.as_ref() != Some(news)) else {
            return false;
        };
        if self.heartbeat.is_none() {
            self.tell_where(&news.node);
        }
        let here = self.logs(context);
        for (role, length) in &news.logs {
            let copied = self.copied.entry(role.clone()).or_default();
            // What cannot be copied now is the next time.
            let Ok(bytes) = fetch_log(&place.log(role), (*copied, *length), &here, role) else {
                continue;
            };
            *copied = copied.saturating_add(bytes.len() as u64);
            if role == OF_AGENT && !bytes.is_empty() {
                self.report.take(&bytes);
                self.tell_said();
            }
        }
        let live_before = self.heartbeat.as_ref().map_or(0, |before| before.live);
        if news.live > live_before {
            self.tell_snapshot(place.live_bundle(news.live));
        }
        self.heard_at = Instant::now();
        let is_done = news.phase == NodePhase::Done;
        self.heartbeat = Some(news);
        is_done
    }

    fn tell_where(&self, node: &str) {
        if let UnitWork::Attempt(attempt) = &self.work {
            self.handle.tell(LoopInput::Placed {
                task: attempt.task.clone(),
                attempt: attempt.number,
                node: node.to_owned(),
            });
        }
    }

    fn tell_snapshot(&self, bundle: PathBuf) {
        if let UnitWork::Attempt(attempt) = &self.work {
            self.handle.tell(LoopInput::Snapshot {
                task: attempt.task.clone(),
                attempt: attempt.number,
                bundle,
            });
        }
    }

    /// What its agent said so far.
    pub(super) fn said(&self) -> AgentReport {
        self.report.said.clone()
    }

    /// Whether nothing was heard of it.
    pub(super) fn is_waiting(&self) -> bool {
        self.heartbeat.is_none()
    }

    fn tell_said(&self) {
        if let UnitWork::Attempt(attempt) = &self.work {
            self.handle.tell(LoopInput::Said {
                task: attempt.task.clone(),
                attempt: attempt.number,
                said: self.report.said.clone(),
            });
        }
    }
}

impl Dispatcher {
    pub(super) fn follow_all(&mut self) {
        let mut begun: HashMap<String, Vec<u32>> = HashMap::new();
        let (mut done, mut hearing) = (Vec::new(), Vec::new());
        for (position, unit) in self.units.iter_mut().enumerate() {
            self.wants_a_look |= unit.pass_on();
            let listing = begun
                .entry(unit.sent.submission.clone())
                .or_insert_with(|| unit.folder.begun().unwrap_or_default());
            if listing.contains(&unit.sent.unit) && unit.listen(&self.context) {
                done.push(position);
            }
            let phase = unit.heartbeat.as_ref().map(|beat| beat.phase);
            let may_hear = unit.may_hear.is_some_and(|when| when <= Instant::now());
            if phase == Some(NodePhase::Hearing) && may_hear {
                hearing.push(position);
            }
        }
        for position in hearing {
            self.say_secrets(position);
        }
        for position in done.into_iter().rev() {
            let unit = self.units.remove(position);
            self.take(unit);
        }
    }
}

/// Appends a part of a log to the one that is here, and returns it.
fn fetch_log(
    from: &Path,
    (copied, length): (u64, u64),
    here: &Path,
    role: &str,
) -> io::Result<Vec<u8>> {
    if length <= copied {
        return Ok(Vec::new());
    }
    private_folder(here).map_err(io::Error::other)?;
    let mut source = File::open(from)?;
    source.seek(SeekFrom::Start(copied))?;
    let mut news = Vec::new();
    source.take(length - copied).read_to_end(&mut news)?;
    let mut options = File::options();
    let log = options.create(true).append(true).mode(0o600);
    log.open(here.join(format!("{role}.log")))?
        .write_all(&news)?;
    Ok(news)
}
