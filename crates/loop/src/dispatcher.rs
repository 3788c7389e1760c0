//! The owner's side of a cluster: gives it what the loop sends out, follows that, and tells the loop what came of it.
//!
//! Carries bytes and says what it saw. Decides nothing about a batch, and believes no unit but by its fence.

mod follow;
mod last_state;
mod line;
mod lose;
mod place;
mod report;
mod send;
mod take;
mod unfit;
mod waiting;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use pleach_engine::batch_record::UnitSizes;
use pleach_log::database::SubmittedUnit;
use pleach_log::queue_report::QueueReport;
use pleach_system::pace::paced;
use pleach_system::text::causes::with_causes;

use crate::attempt::{Attempt, AttemptContext, Probe};
use crate::cluster::Cluster;
use crate::executor::{Executor, LoopHandle};
use crate::loop_input::LoopInput;
use crate::spool::{Control, SubmissionFolder, UnitWork};
use follow::FollowedUnit;
use line::{ClusterAnswer, ClusterCall, open_line};
use send::UnsentSubmission;
use take::TakenUnit;
use unfit::UnfitNodes;
use waiting::WaitingUnits;

pub(crate) use place::{ClusterPlace, PlaceInput};
pub(crate) use send::harmless_variables;

/// How often the folders of submissions are looked at.
const TICK: Duration = Duration::from_secs(1);

/// The folders are looked at less often the more units run: so long for each.
const TICK_OF_EACH: Duration = Duration::from_millis(12);

/// What is sent out within this time goes out at once.
const GATHER: Duration = Duration::from_millis(50);

/// Has a cluster carry out what the loop sends out.
#[derive(Debug)]
pub(crate) struct ClusterExecutor {
    line: Sender<DispatcherInput>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for ClusterExecutor {
    fn drop(&mut self) {
        // It hears of everything that is stored, and clears up, before the process may end.
        self.say(DispatcherInput::Leave);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[derive(Debug)]
enum DispatcherInput {
    Send(OutgoingUnit),
    /// Another process sent it.
    Adopt(OutgoingUnit, SubmittedUnit),
    /// What came of it is stored.
    Forget(String),
    /// Nobody wants what units of this batch do that are not followed.
    AbandonTheRest,
    /// No attempt is to begin.
    TakeBack,
    Answered(ClusterAnswer),
    Taken(TakenUnit),
    /// Whoever goes on with the batch finds everything in the database and on the share.
    Leave,
}

/// Something to have carried out, and who hears of it.
#[derive(Debug)]
struct OutgoingUnit {
    work: UnitWork,
    handle: LoopHandle,
}

impl Executor for ClusterExecutor {
    fn attend(&self, attempt: Box<Attempt>, handle: LoopHandle) {
        let work = UnitWork::Attempt(attempt);
        self.say(DispatcherInput::Send(OutgoingUnit { work, handle }));
    }

    fn judge(&self, probe: Box<Probe>, handle: LoopHandle) {
        let work = UnitWork::Probe(probe);
        self.say(DispatcherInput::Send(OutgoingUnit { work, handle }));
    }

    fn follow(&self, attempt: Box<Attempt>, handle: LoopHandle, sent: SubmittedUnit) {
        let work = UnitWork::Attempt(attempt);
        self.say(DispatcherInput::Adopt(OutgoingUnit { work, handle }, sent));
    }

    fn forget(&self, fence: String) {
        self.say(DispatcherInput::Forget(fence));
    }

    fn abandon_the_rest(&self) {
        self.say(DispatcherInput::AbandonTheRest);
    }

    fn take_back(&self) {
        self.say(DispatcherInput::TakeBack);
    }

    fn is_elsewhere(&self) -> bool {
        true
    }
}

impl ClusterExecutor {
    pub(crate) fn start(
        cluster: Box<dyn Cluster>,
        (place, sizes): (ClusterPlace, UnitSizes),
        context: Arc<AttemptContext>,
    ) -> std::io::Result<Self> {
        let (line, inbox) = channel();
        let name = cluster.name();
        let cluster = open_line(cluster, line.clone())?;
        let ends = (line.clone(), inbox);
        let dispatcher = Dispatcher::new((name, cluster), (place, sizes), context, ends);
        let thread = std::thread::Builder::new().name("dispatcher".to_owned());
        let thread = Some(thread.spawn(move || dispatcher.work())?);
        Ok(Self { line, thread })
    }

    /// A dispatcher that broke off hears nothing; that is a bug, and what it left is found by whoever goes on.
    fn say(&self, what: DispatcherInput) {
        let _ = self.line.send(what);
    }
}

struct Dispatcher {
    cluster_name: &'static str,
    cluster: Sender<ClusterCall>,
    place: ClusterPlace,
    context: Arc<AttemptContext>,
    inbox: Receiver<DispatcherInput>,
    /// The other end of the inbox, for whoever does something for the dispatcher.
    line: Sender<DispatcherInput>,
    waiting: WaitingUnits,
    units: Vec<FollowedUnit>,
    /// What was told to the loop, and is not stored yet.
    told: Vec<FollowedUnit>,
    /// What the cluster did not take yet.
    unsent: Vec<UnsentSubmission>,
    /// When the cluster was asked last.
    looked: Option<Instant>,
    is_looking: bool,
    /// Whether somebody waits for what it says.
    wants_a_look: bool,
    /// Whether nothing can be read of what nodes write.
    is_share_gone: bool,
    /// What is wrong, and was said.
    troubles: HashSet<Trouble>,
    /// How many results are being taken in.
    taking: usize,
    /// How many runs of the tests were lost with their nodes.
    lost_tests: u32,
    unfit: UnfitNodes,
    /// The machine on which the tests failed last on a tree.
    red_on: HashMap<String, String>,
    /// What was passed on last of what the cluster says.
    reported: QueueReport,
}

/// What may be out of reach for a while; each is said once until it is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Trouble {
    /// The cluster does not answer.
    Queue,
    /// The cluster takes nothing.
    Submitting,
    /// What nodes write cannot be read.
    Share,
    /// Nothing can be written for nodes.
    Orders,
    /// Secrets do not reach a node.
    Secrets,
    /// Files do not come along.
    LeftOut,
}

impl Trouble {
    /// A cluster that cannot be reached is one trouble, whatever it was to do.
    fn is_of_cluster(self) -> bool {
        matches!(self, Self::Queue | Self::Submitting)
    }
}

impl Dispatcher {
    fn new(
        (cluster_name, cluster): (&'static str, Sender<ClusterCall>),
        (place, sizes): (ClusterPlace, UnitSizes),
        context: Arc<AttemptContext>,
        (line, inbox): (Sender<DispatcherInput>, Receiver<DispatcherInput>),
    ) -> Self {
        Self {
            cluster_name,
            cluster,
            place,
            context,
            inbox,
            line,
            waiting: WaitingUnits::new(sizes),
            units: Vec::new(),
            told: Vec::new(),
            unsent: Vec::new(),
            looked: None,
            is_looking: false,
            wants_a_look: false,
            is_share_gone: false,
            troubles: HashSet::new(),
            taking: 0,
            lost_tests: 0,
            unfit: UnfitNodes::default(),
            red_on: HashMap::new(),
            reported: QueueReport::default(),
        }
    }

    fn work(mut self) {
        self.ask_how_much();
        loop {
            let mut outgoing = Vec::new();
            let tick = Instant::now() + paced(self.tick());
            let mut due = tick;
            loop {
                let wait = due.saturating_duration_since(Instant::now());
                match self.inbox.recv_timeout(wait) {
                    Ok(DispatcherInput::Send(outgoing_unit)) => {
                        outgoing.push(outgoing_unit);
                        due = tick.min(Instant::now() + GATHER);
                    }
                    Ok(DispatcherInput::Adopt(outgoing_unit, sent)) => {
                        self.adopt(outgoing_unit, sent);
                    }
                    Ok(DispatcherInput::Forget(fence)) => self.forget(&fence),
                    Ok(DispatcherInput::AbandonTheRest) => self.abandon_the_rest(),
                    Ok(DispatcherInput::TakeBack) => {
                        let is_attempt = |work: &UnitWork| matches!(work, UnitWork::Attempt(_));
                        self.take_back(is_attempt);
                        // Whatever the cluster begins with from now on ends at once.
                        self.pass_on();
                        self.give_back(is_attempt);
                    }
                    Ok(DispatcherInput::Answered(answer)) => {
                        if matches!(answer, ClusterAnswer::Surveyed(_)) {
                            // What waited for that goes out at once.
                            due = Instant::now();
                        }
                        self.hear(answer);
                    }
                    Ok(DispatcherInput::Taken(taken)) => self.tell_taken(taken),
                    Ok(DispatcherInput::Leave) | Err(RecvTimeoutError::Disconnected) => return,
                    Err(RecvTimeoutError::Timeout) => break,
                }
            }
            self.waiting.add(outgoing);
            self.send_waiting();
            self.report_waiting();
            self.follow_all();
            self.give_up_what_is_gone();
            self.send_again();
            self.look();
        }
    }

    /// How long until the folders are looked at again; what waits is listed with the rest of its submission.
    fn tick(&self) -> Duration {
        let running = self.units.iter().filter(|unit| !unit.is_waiting());
        let count = u32::try_from(running.count()).unwrap_or(u32::MAX);
        TICK.max(TICK_OF_EACH.saturating_mul(count))
    }

    fn hear(&mut self, answer: ClusterAnswer) {
        match answer {
            ClusterAnswer::Seen { asked, seen } => {
                self.is_looking = false;
                match seen {
                    Ok(seen) => self.take_in_seen(asked, seen),
                    // What runs is heard from all the same.
                    Err(error) => self.complain(Trouble::Queue, "cannot be asked", &error),
                }
            }
            ClusterAnswer::Submitted { submission, taken } => {
                self.take_in_submitted(&submission, taken);
            }
            ClusterAnswer::Surveyed(survey) => self.take_in_survey(survey),
            ClusterAnswer::SaidSecrets { fence, said } => self.take_in_said(&fence, said),
        }
    }

    /// Says what is wrong, with the words of whoever knows, unless it was said before and did not end.
    fn complain(&mut self, trouble: Trouble, what: &str, error: &dyn std::error::Error) {
        let Some(unit) = self.units.first() else {
            return;
        };
        let is_of_cluster = |trouble: &Trouble| trouble.is_of_cluster();
        let is_known = trouble.is_of_cluster() && self.troubles.iter().any(is_of_cluster);
        if self.troubles.insert(trouble) && !is_known {
            let whom = match trouble {
                Trouble::Queue | Trouble::Submitting => self.cluster_name,
                Trouble::Share | Trouble::Orders => "the share",
                Trouble::Secrets | Trouble::LeftOut => "a node",
            };
            let why = with_causes(error);
            let note = format!("{whom} {what}: {why}; trying again");
            unit.handle.tell(LoopInput::Noted(note));
        }
    }

    /// Calls for something from the cluster; the answer comes when it comes.
    fn call(&self, call: ClusterCall) {
        // A line that broke off is a bug, and the batch waits for a person.
        let _ = self.cluster.send(call);
    }

    /// Has units end that another process sent for this batch, and whose result nobody would know what to do with.
    fn abandon_the_rest(&self) {
        let all = self.units.iter().chain(&self.told);
        let followed: HashSet<&str> = all.map(|unit| unit.sent.fence.as_str()).collect();
        let folders = fs::read_dir(&self.place.home).into_iter().flatten();
        for entry in folders.flatten() {
            let name = entry.file_name();
            let folder = SubmissionFolder::at(entry.path());
            let Ok(orders) = folder.orders() else {
                continue;
            };
            let of = &orders.head;
            if of.batch != self.context.number || of.project_name != self.place.project {
                continue;
            }
            if name.to_str().is_some_and(|name| self.has_other_of(name)) {
                let rest = orders.units.iter();
                let rest = rest.filter(|order| !followed.contains(order.fence.as_str()));
                let words: Vec<_> = rest
                    .map(|order| (order.unit, Control::StopAtOnce))
                    .collect();
                let _ = folder.say_all(&words);
            } else {
                // Where everything is gone they hear the same.
                let _ = folder.remove();
            }
        }
    }

    /// What came of a unit is stored: with the last one of a submission its folder goes, and with that the hope of
    /// whoever still works there.
    fn forget(&mut self, fence: &str) {
        let is_it = |unit: &FollowedUnit| unit.sent.fence == fence;
        let Some(position) = self.told.iter().position(is_it) else {
            return;
        };
        let unit = self.told.swap_remove(position);
        self.waiting.look_for_room();
        if !self.has_other_of(&unit.sent.submission) {
            // What cannot go now is found when somebody clears up.
            let _ = unit.folder.remove();
        } else if unit.holds_place {
            // What waits has been told by now not to begin.
            let _ = unit.folder.say(unit.sent.unit, Control::Stop);
        }
    }

    fn has_other_of(&self, submission: &str) -> bool {
        let mut others = self.units.iter().chain(&self.told);
        others.any(|other| other.sent.submission == submission)
    }
}

#[cfg(test)]
mod tests;
