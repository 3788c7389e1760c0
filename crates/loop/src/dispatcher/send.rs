//! Gives the cluster what is new: noted first, then written, then submitted.

use std::mem;
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use pleach_domain::batch::AttemptEnding;
use pleach_engine::validate::RunEnding;
use pleach_log::database::SubmittedUnit;
use pleach_system::crash_point::{CrashPoint, crash_point};
use pleach_system::files::stored_path::StoredPath;
use pleach_system::pace::paced;
use pleach_system::process::fresh_nonce;
use pleach_system::text::causes::with_causes;
use pleach_system::variables::is_allowed_to_all;

use super::follow::FollowedUnit;
use super::{Dispatcher, Errand};
use crate::attempt::{Finished, ProbeEnded};
use crate::cluster::{NodeCall, Submission};
use crate::loop_input::LoopInput;
use crate::node_runner::HEAR;
use crate::spool::{Orders, OrdersHead, PROTOCOL, SubmissionFolder, UnitOrder, UnitWork};
use crate::unit_secrets::{SecretsRoute, UnitSecrets};

/// So many letters of a random word tell the submissions of a batch apart.
const TELLING: usize = 8;

/// So many runs of the tests of a batch may be lost before that is taken for trouble with the tests.
const MOST_LOST_TESTS: u32 = 6;

/// How long the cluster is left alone when it takes nothing.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_mins(5);

impl Dispatcher {
    pub(super) fn send_out(&mut self, errands: Vec<Errand>) {
        for (avoid, errands) in self.by_avoided(errands) {
            self.send_together(errands, avoid);
        }
    }

    fn send_together(&mut self, errands: Vec<Errand>, avoid: Vec<String>) {
        let Some(inbox) = errands.first().map(|errand| errand.handle.inbox.clone()) else {
            return;
        };
        let sent = match self.name_all(&errands) {
            Ok(sent) => sent,
            Err(error) => return self.give_up(errands, &with_causes(&error)),
        };
        let (go, stored) = channel();
        // A loop that is over drops it, and nothing is sent then.
        let _ = inbox.send(LoopInput::Sending(sent.clone(), go));
        if stored.recv().is_err() {
            return;
        }
        crash_point(CrashPoint::SendingNoted);
        let (folder, mut submission) = match self.write_orders(&errands, &sent) {
            Ok(written) => written,
            Err(why) => return self.give_up(errands, &why),
        };
        submission.avoid = avoid;
        crash_point(CrashPoint::OrdersWritten);
        for (Errand { work, handle, .. }, sent) in errands.into_iter().zip(sent) {
            let unit = FollowedUnit::new(work, handle, sent, folder.clone());
            self.units.push(unit);
        }
        self.submit(submission, FIRST_PAUSE, &inbox);
    }

    /// Tries once more what the cluster did not take, when it is time to.
    pub(super) fn send_again(&mut self) {
        let now = Instant::now();
        let is_due = |unsent: &mut UnsentSubmission| unsent.due <= now;
        let due: Vec<_> = self.unsent.extract_if(.., is_due).collect();
        for UnsentSubmission {
            submission,
            pause,
            inbox,
            ..
        } in due
        {
            let is_wanted = |unit: &FollowedUnit| unit.sent.submission == submission.name;
            if !self.units.iter().any(is_wanted) {
                continue;
            }
            // It may have been taken although it was said that it was not.
            let seen = self.cluster.look().unwrap_or_default();
            let is_taken = seen
                .iter()
                .any(|unit| unit.name.submission == submission.name);
            if !is_taken {
                let longer = (pause * 2).min(LONGEST_PAUSE);
                self.submit(submission, longer, &inbox);
            }
        }
    }

    pub(super) fn is_unsent(&self, submission: &str) -> bool {
        let mut unsent = self.unsent.iter();
        unsent.any(|unsent| unsent.submission.name == submission)
    }

    fn submit(&mut self, mut submission: Submission, pause: Duration, inbox: &Sender<LoopInput>) {
        let mut submitted = self.cluster.submit(&submission);
        if submitted.is_err() && !mem::take(&mut submission.avoid).is_empty() {
            // There may be no others.
            submitted = self.cluster.submit(&submission);
        }
        match submitted {
            Ok(()) => crash_point(CrashPoint::SubmissionSent),
            Err(error) => {
                let why = with_causes(&error);
                let name = self.cluster.name();
                let note = format!("{name} takes no more for now: {why}");
                let _ = inbox.send(LoopInput::Noted(note));
                self.unsent.push(UnsentSubmission {
                    submission,
                    due: Instant::now() + paced(pause),
                    pause,
                    inbox: inbox.clone(),
                });
            }
        }
    }

    fn name_all(&self, errands: &[Errand]) -> std::io::Result<Vec<SubmittedUnit>> {
        let word = fresh_nonce()?;
        let submission = format!("{}-{}", self.context.number, &word[..TELLING]);
        let name = |(unit, errand): (u32, &Errand)| {
            Ok(SubmittedUnit {
                whose: errand.handle.whose.clone(),
                fence: fresh_nonce()?,
                cluster: self.cluster.name().to_owned(),
                submission: submission.clone(),
                unit,
            })
        };
        (1..).zip(errands).map(name).collect()
    }

    fn write_orders(
        &self,
        errands: &[Errand],
        sent: &[SubmittedUnit],
    ) -> Result<(SubmissionFolder, Submission), String> {
        let order = |(errand, sent): (&Errand, &SubmittedUnit)| UnitOrder {
            unit: sent.unit,
            fence: sent.fence.clone(),
            work: errand.work.clone(),
        };
        let units: Vec<UnitOrder> = errands.iter().zip(sent).map(order).collect();
        let secrets = UnitSecrets::of(&self.context);
        let included = &self.context.included;
        let route = self.place.secrets.wanted(&secrets.variables, included);
        let commits = units.iter().flat_map(|unit| unit.work.commits());
        let commits: Vec<_> = commits.cloned().collect();
        let lent = self.context.store.lend(&self.place.depot, &commits);
        let head = OrdersHead {
            protocol: PROTOCOL,
            batch: self.context.number,
            project_name: self.place.project.clone(),
            project: lent.map_err(|error| with_causes(&error))?,
            settings: self.context.settings.clone(),
            env: harmless_variables(),
            secrets: route,
            scratch: self.place.scratch.clone(),
            pace: self.place.pace,
            closed: self.closed(),
            min_free_disk: self.place.min_free_disk,
        };
        let name = sent[0].submission.clone();
        let orders = Orders { head, units };
        let folder = SubmissionFolder::create(self.place.home.join(&name), &orders);
        let unwritable = |error| format!("could not write to the share: {error}");
        let folder = folder.map_err(unwritable)?;
        if route == SecretsRoute::File {
            let text = secrets.text();
            let mut all = sent.iter().map(|sent| folder.put_secrets(sent.unit, &text));
            all.try_for_each(|put| put.map_err(unwritable))?;
        }
        let settings = &self.context.settings;
        let submission = Submission {
            folder: folder.path().to_owned(),
            units: u32::try_from(sent.len()).unwrap_or(u32::MAX),
            program: self.place.program.clone(),
            // The setup may take as long as what comes after it.
            time: settings.timeout.max(settings.validate_timeout) * 2 + settings.grace,
            avoid: Vec::new(),
            name,
        };
        Ok((folder, submission))
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
}

/// What the cluster did not take, and when it is asked again.
#[derive(Debug)]
pub(super) struct UnsentSubmission {
    submission: Submission,
    due: Instant,
    pause: Duration,
    inbox: Sender<LoopInput>,
}

impl Dispatcher {
    /// Says the secrets to a unit that waits for them; an error is told once, and it is tried again.
    pub(super) fn say_secrets(&mut self, unit: usize) {
        let text = UnitSecrets::of(&self.context).text();
        let unit = &mut self.units[unit];
        let said = self.cluster.say(
            &unit.name(),
            &NodeCall {
                program: &self.place.program,
                words: &[HEAR, &unit.sent.fence],
                input: &text,
            },
        );
        unit.may_hear = said.is_err().then(|| Instant::now() + paced(FIRST_PAUSE));
        if let Err(error) = said
            && !std::mem::replace(&mut self.has_complained, true)
        {
            let why = with_causes(&error);
            let note = format!("could not send secrets to a node: {why}; trying again");
            unit.handle.tell(LoopInput::Noted(note));
        }
    }
}

impl Dispatcher {
    /// What was not sent is lost, and tried again as what was lost with a machine.
    fn give_up(&mut self, errands: Vec<Errand>, why: &str) {
        for Errand { work, handle, .. } in errands {
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
fn harmless_variables() -> Vec<(String, String)> {
    let all = std::env::vars_os();
    all.filter_map(|(name, value)| {
        let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
        let is_harmless = is_allowed_to_all(&name) && name != "TMPDIR";
        is_harmless.then_some((name, value))
    })
    .collect()
}
