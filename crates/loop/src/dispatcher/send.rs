//! Gives the cluster what is new: noted first, then written, then submitted.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use pleach_domain::batch::AttemptEnding;
use pleach_engine::batch_record::AttemptSettings;
use pleach_engine::validate::RunEnding;
use pleach_log::database::SubmittedUnit;
use pleach_system::crash_point::{CrashPoint, crash_point};
use pleach_system::files::stored_path::StoredPath;
use pleach_system::pace::paced;
use pleach_system::process::fresh_nonce;
use pleach_system::text::causes::with_causes;
use pleach_system::variables::is_allowed_to_all;

use super::follow::FollowedUnit;
use super::line::ClusterCall;
use super::{Dispatcher, OutgoingUnit, Trouble};
use crate::attempt::{Finished, ProbeEnded};
use crate::cluster::{ClusterError, Submission, UnitRequest};
use crate::loop_input::LoopInput;
use crate::spool::{NodeWork, Orders, OrdersHead, PROTOCOL, SubmissionFolder, UnitOrder, UnitWork};
use crate::unit_secrets::{SecretsRoute, UnitSecrets};

/// So many letters of a random word tell the submissions of a batch apart.
const TELLING: usize = 8;

/// So many runs of the tests of a batch may be lost before that is taken for trouble with the tests.
const MOST_LOST_TESTS: u32 = 6;

/// How long the cluster is left alone when it takes nothing.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_mins(5);

/// How long it may take until a cluster shows what a dead process gave it.
const BEFORE_IT_SHOWS: Duration = Duration::from_secs(10);

/// What the cluster does not have yet, as far as is known.
#[derive(Debug)]
pub(super) struct UnsentSubmission {
    name: String,
    /// The machines that it must not be on, as long as there are others.
    avoid: Vec<String>,
    /// When it is tried next.
    due: Instant,
    /// How long it rests after the next failure.
    pause: Duration,
    step: SendingStep,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SendingStep {
    /// The cluster does not have it.
    Unsent,
    /// The cluster was given it, and has not answered.
    UnderWay,
    /// The cluster may have taken it, whatever was heard; it is looked for by its name before it is tried again.
    Doubtful,
}

impl UnsentSubmission {
    pub(super) fn new(name: String, avoid: Vec<String>, step: SendingStep, due: Instant) -> Self {
        Self {
            name,
            avoid,
            due,
            pause: FIRST_PAUSE,
            step,
        }
    }

    /// Lets it rest, for longer each time.
    fn rest(&mut self, step: SendingStep) {
        self.step = step;
        self.due = Instant::now() + paced(self.pause);
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
    }
}

impl Dispatcher {
    /// Sends units at once that ask the same of the cluster, as far as there is room for them.
    pub(super) fn send_together(&mut self, mut outgoing: Vec<OutgoingUnit>, avoid: Vec<String>) {
        let Some(inbox) = outgoing
            .first()
            .map(|outgoing_unit| outgoing_unit.handle.inbox.clone())
        else {
            return;
        };
        let mut sent = match self.name_all(&outgoing) {
            Ok(sent) => sent,
            Err(error) => return self.give_up(outgoing, &with_causes(&error)),
        };
        let (go, noted) = channel();
        // A loop that is over drops it, and nothing is sent then.
        let _ = inbox.send(LoopInput::Sending(sent.clone(), go));
        let Ok(room) = noted.recv() else {
            return;
        };
        self.waiting
            .wait_for_room(outgoing.split_off(outgoing.len().min(room)));
        sent.truncate(room);
        if outgoing.is_empty() {
            return;
        }
        crash_point(CrashPoint::SendingNoted);
        let name = sent[0].submission.clone();
        for (OutgoingUnit { work, handle }, sent) in outgoing.into_iter().zip(sent) {
            let folder = SubmissionFolder::at(self.place.home.join(&name));
            let unit = FollowedUnit::new(work, handle, sent, folder);
            self.units.push(unit);
        }
        let unsent = UnsentSubmission::new(name, avoid, SendingStep::Unsent, Instant::now());
        self.unsent.push(unsent);
    }

    /// Follows what another process sent, or was about to send.
    pub(super) fn adopt(&mut self, outgoing_unit: OutgoingUnit, sent: SubmittedUnit) {
        let folder = SubmissionFolder::at(self.place.home.join(&sent.submission));
        let OutgoingUnit { work, handle } = outgoing_unit;
        let unit = FollowedUnit::new(work, handle, sent, folder).going_on(&self.context);
        let name = &unit.sent.submission;
        // What has begun shows itself when the folder of the submission is listed, and was sent then.
        if !self.is_unsent(name) {
            let due = Instant::now() + paced(BEFORE_IT_SHOWS);
            let avoid = self.unfit.all().cloned().collect();
            let unsent = UnsentSubmission::new(name.clone(), avoid, SendingStep::Doubtful, due);
            self.unsent.push(unsent);
        }
        self.units.push(unit);
    }

    /// Gives the cluster what it does not have yet, when it is time to.
    pub(super) fn send_again(&mut self) {
        let mut unsent = std::mem::take(&mut self.unsent);
        unsent.retain(|unsent| self.has_unit_of(&unsent.name));
        let now = Instant::now();
        for unsent in unsent.iter_mut().filter(|unsent| unsent.due <= now) {
            match unsent.step {
                SendingStep::UnderWay => {}
                SendingStep::Doubtful => self.wants_a_look = true,
                SendingStep::Unsent => match self.write_out(&unsent.name) {
                    Ok(mut submission) => {
                        submission.avoid.clone_from(&unsent.avoid);
                        self.troubles.remove(&Trouble::Orders);
                        crash_point(CrashPoint::OrdersWritten);
                        self.tell_what_stays_here();
                        unsent.step = SendingStep::UnderWay;
                        self.call(ClusterCall::Submit(submission));
                    }
                    Err(error) => {
                        unsent.rest(SendingStep::Unsent);
                        self.complain(Trouble::Orders, "takes no orders", &*error);
                    }
                },
            }
        }
        self.unsent = unsent;
    }

    pub(super) fn take_in_submitted(&mut self, submission: &str, taken: Result<(), ClusterError>) {
        match taken {
            Ok(()) => self.is_sent(submission),
            Err(error) => {
                self.complain(Trouble::Submitting, "takes no more for now", &error);
                let is_it = |unsent: &&mut UnsentSubmission| unsent.name == submission;
                if let Some(unsent) = self.unsent.iter_mut().find(is_it) {
                    unsent.rest(SendingStep::Doubtful);
                }
            }
        }
    }

    /// Whatever the cluster shows was sent; what it does not show long after is sent once more.
    pub(super) fn take_in_shown(&mut self, asked: Instant, shown: &HashSet<&str>) {
        for unsent in &mut self.unsent {
            if unsent.step == SendingStep::Doubtful && asked >= unsent.due {
                unsent.step = SendingStep::Unsent;
            }
        }
        for submission in shown {
            self.is_sent(submission);
        }
    }

    /// The cluster has a submission.
    pub(super) fn is_sent(&mut self, submission: &str) {
        self.unsent.retain(|unsent| unsent.name != submission);
        if self.unsent.is_empty() {
            self.troubles.remove(&Trouble::Submitting);
        }
        let now = Instant::now();
        let units = self.units.iter_mut();
        let of_it = units.filter(|unit| unit.sent.submission == submission);
        for unit in of_it {
            unit.sent_at.get_or_insert(now);
        }
    }

    pub(super) fn is_unsent(&self, submission: &str) -> bool {
        let mut unsent = self.unsent.iter();
        unsent.any(|unsent| unsent.name == submission)
    }

    /// Whether it is sure that the cluster does not have a submission.
    pub(super) fn is_surely_unsent(&self, submission: &str) -> bool {
        let mut unsent = self.unsent.iter();
        unsent.any(|unsent| unsent.name == submission && unsent.step == SendingStep::Unsent)
    }

    fn has_unit_of(&self, submission: &str) -> bool {
        let mut units = self.units.iter();
        units.any(|unit| unit.sent.submission == submission)
    }

    fn name_all(&self, outgoing: &[OutgoingUnit]) -> std::io::Result<Vec<SubmittedUnit>> {
        let word = fresh_nonce()?;
        let submission = format!("{}-{}", self.context.number, &word[..TELLING]);
        let name = |(unit, outgoing_unit): (u32, &OutgoingUnit)| {
            Ok(SubmittedUnit {
                whose: outgoing_unit.handle.whose.clone(),
                fence: fresh_nonce()?,
                cluster: self.cluster_name.to_owned(),
                submission: submission.clone(),
                unit,
            })
        };
        (1..).zip(outgoing).map(name).collect()
    }

    /// Writes the orders of a submission, unless that was done, and says what the cluster is to be given.
    fn write_out(&self, name: &str) -> Result<Submission, Box<dyn std::error::Error>> {
        let units = self.units.iter();
        let units: Vec<_> = units.filter(|unit| unit.sent.submission == name).collect();
        let folder = SubmissionFolder::at(self.place.home.join(name));
        let program = self.place.bring_program(&self.context)?;
        // It is that of all of them.
        let size = units.first().map(|unit| self.waiting.size_of(&unit.work));
        let size = size.unwrap_or_default();
        let settings = self.context.settings.for_size(&size);
        let time = settings.unit_time();
        if !folder.has_orders() {
            self.write_orders(&folder, &units, settings)?;
        }
        let last = units.iter().map(|unit| unit.sent.unit).max();
        Ok(Submission {
            folder: folder.path().to_owned(),
            units: last.unwrap_or_default(),
            program,
            request: UnitRequest { size, time },
            avoid: Vec::new(),
            name: name.to_owned(),
        })
    }

    fn write_orders(
        &self,
        folder: &SubmissionFolder,
        units: &[&FollowedUnit],
        settings: AttemptSettings,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let secrets = UnitSecrets::of(&self.context);
        let included = &self.context.included;
        let route = self.place.secrets.wanted(&secrets.variables, included);
        let commits = units.iter().flat_map(|unit| unit.work.commits());
        let commits: BTreeSet<_> = commits.cloned().collect();
        let commits: Vec<_> = commits.into_iter().collect();
        let head = OrdersHead {
            protocol: PROTOCOL,
            program: StoredPath(self.place.program.clone()),
            batch: self.context.number,
            project_name: self.place.project.clone(),
            project: self.context.store.lend(&self.place.depot, &commits)?,
            settings,
            env: harmless_variables(),
            secrets: route,
            scratch: self.place.scratch.clone(),
            pace: self.place.pace,
            closed: self.closed(),
            min_free_disk: self.place.min_free_disk,
        };
        if route == SecretsRoute::File {
            let text = secrets.text();
            for unit in units {
                folder.put_secrets(unit.sent.unit, &text)?;
            }
        }
        let order = |unit: &&FollowedUnit| UnitOrder {
            unit: unit.sent.unit,
            fence: unit.sent.fence.clone(),
            work: NodeWork::Unit(unit.work.clone()),
        };
        let units = units.iter().map(order).collect();
        Ok(folder.write(&Orders { head, units })?)
    }
}

impl Dispatcher {
    /// What is ours and the user's, where nodes see it: the share, the checkout, and all that this installation keeps.
    fn closed(&self) -> Vec<StoredPath> {
        let context = &self.context;
        let share = self.place.home.parent().map(Path::to_owned);
        let ours = [context.state.path().to_owned(), context.trees.clone()];
        let all = share.into_iter().chain(context.store.users_folders());
        all.chain(ours).map(StoredPath).collect()
    }

    /// Says once what units do not get of the files that worktrees here do.
    fn tell_what_stays_here(&mut self) {
        let is_news = self.troubles.insert(Trouble::LeftOut);
        let Some(unit) = self.units.first().filter(|_| is_news) else {
            return;
        };
        let included = &self.context.included;
        if self.place.secrets == SecretsRoute::Nothing && !included.is_empty() {
            let all = included.paths().count();
            let why = "ignored files are not copied to nodes (cluster.secrets = \"none\")";
            return unit.handle.tell(LoopInput::Noted(format!("{all} {why}")));
        }
        for left_out in UnitSecrets::of(&self.context).left_out {
            unit.handle.tell(LoopInput::Noted(left_out));
        }
    }

    /// Says the secrets to a unit that waits for them; if they do not get there, it is tried again.
    pub(super) fn say_secrets(&mut self, unit: usize) {
        let text = UnitSecrets::of(&self.context).text();
        let unit = &mut self.units[unit];
        unit.may_hear = None;
        let call = ClusterCall::SaySecrets {
            job: unit.heartbeat.as_ref().and_then(|beat| beat.job.clone()),
            fence: unit.sent.fence.clone(),
            program: self.place.program.clone(),
            text,
        };
        self.call(call);
    }

    pub(super) fn take_in_said(&mut self, fence: &str, said: Result<(), ClusterError>) {
        match said {
            Ok(()) => {
                self.troubles.remove(&Trouble::Secrets);
            }
            Err(error) => {
                self.complain(Trouble::Secrets, "hears no secrets", &error);
                let is_it = |unit: &&mut FollowedUnit| unit.sent.fence == fence;
                if let Some(unit) = self.units.iter_mut().find(is_it) {
                    unit.may_hear = Some(Instant::now() + paced(FIRST_PAUSE));
                }
            }
        }
    }
}

impl Dispatcher {
    /// What was not sent is lost, and tried again as what was lost with a machine.
    fn give_up(&mut self, outgoing: Vec<OutgoingUnit>, why: &str) {
        for OutgoingUnit { work, handle } in outgoing {
            let input = self.lost(&work, why);
            handle.tell(input);
        }
    }

    /// That a unit was lost with where it was.
    pub(super) fn lost(&mut self, work: &UnitWork, why: &str) -> LoopInput {
        let (attempt, run) = self.lost_endings(work, why.to_owned());
        ended(work, attempt, run)
    }

    /// The same as endings. Tests are begun again, but not for ever.
    pub(super) fn lost_endings(
        &mut self,
        work: &UnitWork,
        why: String,
    ) -> (AttemptEnding, RunEnding) {
        if matches!(work, UnitWork::Probe(_)) {
            self.lost_tests += 1;
        }
        let run = if self.lost_tests > MOST_LOST_TESTS {
            RunEnding::Trouble(why.clone())
        } else {
            RunEnding::Stopped
        };
        (AttemptEnding::Lost(why), run)
    }
}

pub(super) fn ended(
    work: &UnitWork,
    attempt_ending: AttemptEnding,
    run_ending: RunEnding,
) -> LoopInput {
    match work {
        UnitWork::Attempt(attempt) => {
            let finished = Finished::new(attempt, attempt_ending);
            LoopInput::Finished(Box::new(finished), channel().0)
        }
        UnitWork::Probe(probe) => LoopInput::Judged(Box::new(ProbeEnded::new(probe, run_ending))),
    }
}

/// The variables of ours that every program may see, but for those that mean a place on this machine alone.
pub(crate) fn harmless_variables() -> Vec<(String, String)> {
    let all = std::env::vars_os();
    all.filter_map(|(name, value)| {
        let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
        let is_harmless = is_allowed_to_all(&name) && name != "TMPDIR";
        is_harmless.then_some((name, value))
    })
    .collect()
}
