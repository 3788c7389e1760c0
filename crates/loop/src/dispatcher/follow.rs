//! Follows what was given to the cluster: the owner's word to it, its signs of life, its logs, and what the queue says.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use pleach_log::agent_report::{AgentReport, ReportReader};
use pleach_log::batch_paths::{attempt_folder, probe_folder};
use pleach_log::database::SubmittedUnit;
use pleach_system::state_folder::private_folder;

use super::line::ClusterCall;
use super::{Dispatcher, Trouble};
use crate::attempt::AttemptContext;
use crate::cluster::{EndHow, UnitName, UnitOver};
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
    /// Since when the cluster has it, or is taken to have it.
    pub(super) sent_at: Option<Instant>,
    /// How often the cluster did not name it, one time after the other.
    pub(super) misses: u32,
    /// What the cluster said when it was over there.
    pub(super) over: Option<UnitOver>,
    /// Since when it is not in the queue any more.
    pub(super) gone_at: Option<Instant>,
    /// Its result, if that is there.
    pub(super) arrival: Option<Arrival>,
    /// The machine that it is on, or was, as the cluster says it.
    pub(super) node: Option<String>,
    /// Whether it is not to begin after all, and is no worse for it.
    pub(super) is_taken_back: bool,
    /// Whether it holds its place until what waits is taken back.
    pub(super) holds_place: bool,
    /// What it brought when its machine was taken from it; why, the queue has yet to say.
    pub(super) brought: Option<LoopInput>,
}

/// A result that is there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    pub(super) since: Instant,
    /// When it is to be taken in; none while that is being done.
    pub(super) due: Option<Instant>,
}

impl Arrival {
    pub(super) fn now() -> Self {
        let since = Instant::now();
        let due = Some(since);
        Self { since, due }
    }

    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.due.is_some_and(|due| due <= now)
    }

    pub(super) fn under_way(self) -> Self {
        Self { due: None, ..self }
    }
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
            sent_at: None,
            misses: 0,
            over: None,
            gone_at: None,
            arrival: None,
            node: None,
            is_taken_back: false,
            holds_place: false,
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

    /// What somebody wants it to do.
    pub(super) fn wanted(&self) -> Control {
        if self.handle.cancel.is_at_once() {
            Control::StopAtOnce
        } else if self.handle.cancel.is_cancelled() || self.is_taken_back {
            Control::Stop
        } else {
            Control::Go
        }
    }

    /// Hears whether it lives and whether its result is there, and copies what it wrote.
    pub(super) fn listen(&mut self, context: &AttemptContext) {
        let place = self.place();
        let news = match self.heartbeat {
            None => place.heartbeat(),
            Some(_) => place.next_heartbeat(),
        };
        let news = news.filter(|beat| beat.fence == self.sent.fence);
        let Some(news) = news.filter(|news| self.heartbeat.as_ref() != Some(news)) else {
            return;
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
        if news.phase == NodePhase::Done {
            self.arrival = Some(Arrival::now());
        }
        self.heartbeat = Some(news);
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
        if self.units.is_empty() || !self.can_read_share() {
            return;
        }
        let begun = self.begun();
        self.pass_on();
        let mut hearing = Vec::new();
        for (position, unit) in self.units.iter_mut().enumerate() {
            let name = &unit.sent.submission;
            if unit.arrival.is_some() || !begun[name].contains(&unit.sent.unit) {
                continue;
            }
            unit.listen(&self.context);
            let phase = unit.heartbeat.as_ref().map(|beat| beat.phase);
            let may_hear = unit.may_hear.is_some_and(|when| when <= Instant::now());
            if phase == Some(NodePhase::Hearing) && may_hear {
                hearing.push(position);
            }
        }
        for position in hearing {
            self.say_secrets(position);
        }
        self.take_results();
    }

    /// What has begun of each submission; one of which anything has was sent.
    fn begun(&mut self) -> HashMap<String, HashSet<u32>> {
        let mut begun: HashMap<String, HashSet<u32>> = HashMap::new();
        for unit in &self.units {
            let name = &unit.sent.submission;
            if !begun.contains_key(name) {
                let listed = unit.folder.begun().unwrap_or_default();
                begun.insert(name.clone(), listed.into_iter().collect());
            }
        }
        for (submission, listed) in &begun {
            if !listed.is_empty() && self.is_unsent(submission) {
                self.is_sent(submission);
            }
        }
        begun
    }

    /// Whether anything can be heard at all; if not, that says nothing of any unit.
    fn can_read_share(&mut self) -> bool {
        match fs::read_dir(&self.place.home) {
            Ok(_) => {
                self.troubles.remove(&Trouble::Share);
                if std::mem::take(&mut self.is_share_gone) {
                    let now = Instant::now();
                    for unit in &mut self.units {
                        unit.heard_at = now;
                        unit.gone_at = unit.gone_at.map(|_| now);
                        unit.arrival = unit.arrival.map(|arrival| Arrival {
                            since: now,
                            ..arrival
                        });
                    }
                }
                true
            }
            Err(error) => {
                self.is_share_gone = true;
                self.complain(Trouble::Share, "cannot be read", &error);
                false
            }
        }
    }

    /// Passes on what somebody wants units to do, at the cost of one for each submission.
    pub(super) fn pass_on(&mut self) {
        let mut news: BTreeMap<String, Vec<(usize, Control)>> = BTreeMap::new();
        for (position, unit) in self.units.iter().enumerate() {
            let wanted = unit.wanted();
            if wanted != unit.said {
                let submission = unit.sent.submission.clone();
                news.entry(submission).or_default().push((position, wanted));
            }
        }
        for of_submission in news.values() {
            let words = of_submission.iter();
            let words = words.map(|(unit, wanted)| (self.units[*unit].sent.unit, *wanted));
            let words: Vec<_> = words.collect();
            let folder = &self.units[of_submission[0].0].folder;
            // Said again next time if it does not get there.
            if folder.say_all(&words).is_ok() {
                let mut stopped = Vec::new();
                for (position, wanted) in of_submission {
                    let unit = &mut self.units[*position];
                    unit.said = *wanted;
                    if *wanted == Control::Stop && unit.is_waiting() {
                        stopped.push(unit.name());
                    }
                }
                self.wants_a_look = true;
                if !stopped.is_empty() {
                    // Whatever the queue shows only later is taken out when it does.
                    self.call(ClusterCall::End(stopped, EndHow::IfItWaits));
                }
            }
        }
        self.drop_what_was_never_sent();
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
