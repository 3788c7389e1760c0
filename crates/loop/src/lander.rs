//! The loop's part of landing: what is sent where, and what follows when the base has moved on.
//!
//! The landing itself is on a thread of its own.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use pleach_domain::batch::{DroppedStrand, Message, Proof, Pushed};
use pleach_domain::choice::{Landing, Strategy};
use pleach_domain::event::{BatchEvent, Event, UnprovedReason};
use pleach_domain::task_state::{Commit, Ending};
use pleach_git::git::{CommitId, Logins};
use pleach_git::weave::{Strand, StrandOutcome, WeaveFolder, tree_of, weave};
use pleach_log::view::usd;
use pleach_system::crash_point::{CrashPoint, crash_point};
use pleach_system::process::Cancel;
use pleach_system::text::shell_words::quoted;

use super::project_name;
use super::run_loop::Loop;
use super::{LoopInput, LoopNotice, RunError};
use crate::landing::body::{Account, TaskAccount, TaskFate, TestVerdict};
use crate::landing::effects::CommitEffects;
use crate::landing::job::{self, IfFound, IfMoved, LandingJob, LandingOutcome};
use pleach_engine::plan_to_run::PlanOrigin;
use pleach_engine::trust::may_push_from_now_on;

/// So often the base is followed before the result lands where it is.
const MOST_MOVES: u32 = 3;

struct LandingReporter {
    loop_: Sender<LoopInput>,
}

impl LandingReporter {
    /// Whether it is stored; it is not only when the loop failed.
    fn store(&self, event: BatchEvent) -> bool {
        let (stored, is_stored) = channel();
        let _ = self.loop_.send(LoopInput::PushStep { event, stored });
        is_stored.recv().is_ok()
    }
}

impl job::LandingObserver for LandingReporter {
    fn is_pushing(&mut self, branch: &str, commit: &CommitId, because: Option<String>) -> bool {
        self.store(BatchEvent::Pushing {
            branch: branch.to_owned(),
            commit: Commit(commit.to_string()),
            because,
        })
    }

    fn pushed(&mut self, branch: &str, commit: &CommitId) {
        // Where that fails, whoever goes on finds the branch there.
        let _ = self.store(BatchEvent::Pushed {
            branch: branch.to_owned(),
            commit: Commit(commit.to_string()),
        });
    }

    fn no_more_programs(&mut self) {
        let _ = self.loop_.send(LoopInput::LandingOnlyAsks);
    }

    fn note(&mut self, note: String) {
        let _ = self.loop_.send(LoopInput::Noted(note));
    }
}

#[derive(Debug, Default)]
pub(super) struct Lander {
    job: Option<ActiveLanding>,
    /// Whether the target has a commit that must not be followed without a person's consent.
    stays_on_base: bool,
    pub(super) was_stopped: bool,
}

#[derive(Debug)]
struct ActiveLanding {
    stop: Cancel,
    has_programs: bool,
}

impl Lander {
    /// Whether programs run for it that must not be left alone.
    pub(super) fn is_busy(&self) -> bool {
        let job = self.job.as_ref();
        job.is_some_and(|job| job.has_programs)
    }

    pub(super) fn stop(&mut self) {
        if let Some(job) = &self.job {
            job.stop.cancel();
        }
    }

    /// What is under way starts no more programs.
    pub(super) fn only_asks(&mut self) {
        if let Some(job) = &mut self.job {
            job.has_programs = false;
        }
    }
}

impl Loop<'_> {
    /// Lands what is woven, or begins to; tells whether the state moved.
    pub(super) fn land(&mut self) -> Result<bool, RunError> {
        if self.lander.job.is_some() {
            return Ok(false);
        }
        self.weave_result()?;
        crash_point(CrashPoint::ResultWoven);
        self.publish_result()?;
        self.publish_what_is_left_out();
        self.flush()?;
        let tree = tree_of(&self.context.store, &self.tip)?;
        if let Proof::Proved { tree: proved } = &self.batch.proof
            && *proved != tree.to_string()
        {
            let because = format!("bug in Pleach: tree {tree} would land, but {proved} is proved");
            return Ok(self.not_landed(because, None));
        }
        if let Some(branch) = self.lands_into() {
            return Ok(self.land_into(&branch));
        }
        if self.batch.design.settings.landing == Landing::Local {
            let because = "its base is not a local branch".to_owned();
            let hint = format!("choose one: `{} --into BRANCH`", self.again());
            return Ok(self.not_landed(because, Some(hint)));
        }
        if let Some(address) = self.unconfirmed_push()? {
            let because = format!("the first push of this project to {address} is not confirmed");
            let hint = format!("`{}` asks for confirmation", self.again());
            return Ok(self.not_landed(because, Some(hint)));
        }
        let stop = Cancel::default();
        let job = self.landing_job(stop.clone());
        let context = Arc::clone(&self.context);
        let mut line = LandingReporter {
            loop_: self.sender.clone(),
        };
        let logins = Logins::of_user(&self.context.program);
        let run = move || {
            let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                job.run(&context.store, &logins, &mut line)
            }));
            let ended = ran.unwrap_or_else(|_| LandingOutcome::Failed {
                because: "bug in Pleach: landing panicked".to_owned(),
                hint: None,
                no_server: false,
            });
            let _ = line.loop_.send(LoopInput::LandingEnded(Box::new(ended)));
        };
        if let Err(error) = std::thread::Builder::new().spawn(run) {
            return Ok(self.not_landed(format!("could not start: {error}"), None));
        }
        self.lander.job = Some(ActiveLanding {
            stop,
            has_programs: true,
        });
        Ok(false)
    }

    pub(super) fn not_landed(&mut self, because: String, hint: Option<String>) -> bool {
        let again = self.again();
        let hint = match hint {
            None => format!("try again: `{again}`"),
            Some(hint) if hint.contains(&again) => hint,
            Some(hint) => format!("{hint}; then `{again}`"),
        };
        self.decide(Message::Landed(BatchEvent::NotLanded {
            because,
            hint: Some(hint),
            no_server: false,
        }))
    }

    pub(super) fn again(&self) -> String {
        let asked = self.batch.landing_asked.as_ref();
        let into = asked.and_then(|asked| asked.into.as_ref());
        let into = into.map(|branch| format!(" --into {}", quoted(branch)));
        let unproved = if self.batch.lands_unproved() {
            " --unproved"
        } else {
            ""
        };
        format!(
            "pleach land {}{}{unproved}",
            self.context.number,
            into.unwrap_or_default()
        )
    }

    fn landing_job(&self, stop: Cancel) -> LandingJob {
        let record = &self.record;
        let asked = self.batch.landing_asked.as_ref();
        LandingJob {
            tip: self.tip.clone(),
            base: self.base.clone(),
            is_first_base: self.base.as_str() == record.base,
            branch: record.branches.batch(self.context.number),
            pushed: place(self.batch.pushed.as_ref()),
            pushing: place(self.batch.pushing.as_ref()),
            target: record.target.clone(),
            landing: match record.design.settings.landing {
                // A person who asks means the whole way.
                Landing::Nowhere | Landing::Local => Landing::PullRequest,
                wanted => wanted,
            },
            forge: record.forge,
            account: self.account(),
            hider: self.context.hider.clone(),
            body_file: self.context.folder.join("pull-request.md"),
            if_moved: if self.may_follow_base() {
                IfMoved::Tell
            } else {
                IfMoved::GoOn
            },
            if_found: match asked {
                Some(asked) if asked.despite_findings => IfFound::GoOn,
                _ => IfFound::Stop,
            },
            again: self.again(),
            stop,
        }
    }

    fn may_follow_base(&self) -> bool {
        self.batch.base_moves < MOST_MOVES && !self.lander.stays_on_base
    }

    /// A step of a push is stored before anything else is done.
    pub(super) fn take_in_push_step(
        &mut self,
        event: BatchEvent,
        stored: &Sender<()>,
    ) -> Result<(), RunError> {
        self.decide(Message::Landed(event));
        self.flush()?;
        let _ = stored.send(());
        Ok(())
    }

    /// Whoever stops landing is told how to go on, and nothing of it is left running.
    pub(super) fn stop_landing(&mut self, events: &mut [Event]) {
        for event in events {
            if let Event::Batch(BatchEvent::NotLanded { hint, .. }) = event {
                *hint = Some(format!("`{}` continues", self.again()));
                self.lander.was_stopped = true;
                self.lander.stop();
            }
        }
    }

    pub(super) fn take_in_landing(&mut self, ended: LandingOutcome) -> Result<(), RunError> {
        self.lander.job = None;
        if self.is_leaving() && !matches!(ended, LandingOutcome::Landed { .. }) {
            // Whoever goes on finds out again how far it came.
            return Ok(());
        }
        match ended {
            LandingOutcome::Landed { pr_url } => {
                self.decide(Message::Landed(BatchEvent::Landed { pr_url, into: None }));
            }
            LandingOutcome::Failed {
                because,
                hint,
                no_server: true,
            } => {
                self.decide(Message::Landed(BatchEvent::NotLanded {
                    because,
                    hint,
                    no_server: true,
                }));
            }
            LandingOutcome::Failed { because, hint, .. } => {
                self.not_landed(because, hint);
            }
            // Somebody stopped it meanwhile.
            _ if self.batch.landed.is_some() => {}
            LandingOutcome::BaseMoved(base) => {
                if let Err(changed) = self.follow_base(base.clone())? {
                    self.stay_on_base(&base, &changed);
                }
            }
            LandingOutcome::Diverged { because } => self.land_on_another_branch(&because)?,
        }
        Ok(())
    }

    /// The result goes to the server as it is: what steers agents and Pleach changes with a person's consent only.
    fn stay_on_base(&mut self, base: &CommitId, changed: &str) {
        let at = &base.as_str()[..12];
        if self.lander.stays_on_base {
            let because = format!(
                "its base is not on any branch of the server, and {at} there changes {changed}, which needs your consent"
            );
            let hint = "run the open tasks again on the new base".to_owned();
            self.not_landed(because, Some(hint));
            return;
        }
        self.lander.stays_on_base = true;
        let note = format!(
            "the base is now at {at}, which changes {changed} and needs your consent; the \
             result lands on the old base, as it was proved"
        );
        (self.told)(LoopNotice::Note(note));
    }

    /// The branch of the server cannot be added to: the same goes to another one.
    fn land_on_another_branch(&mut self, because: &str) -> Result<(), RunError> {
        let note = format!("{because}; the result lands on the old base");
        (self.told)(LoopNotice::Note(note));
        self.decide(Message::BaseMoved {
            base: Commit(self.base.to_string()),
            tip: Commit(self.tip.to_string()),
            fell_out: Vec::new(),
            apart: true,
        });
        self.flush()
    }

    /// Weaves everything onto a base that has moved on, for the tests to say what they think of it; where that changes
    /// what steers agents or Pleach, tells so and does nothing.
    fn follow_base(&mut self, base: CommitId) -> Result<Result<(), String>, RunError> {
        let there = self.steering.in_commit(&self.context.store, &base)?;
        let changed = self.steering.changed_in(&there);
        if !changed.is_empty() {
            return Ok(Err(changed.join(", ")));
        }
        let at = &base.as_str()[..12];
        let note = format!("the base is now at {at}; weaving everything again onto it");
        (self.told)(LoopNotice::Note(note));
        let (tip, stays, fell_out) = self.weave_onto(&base)?;
        self.base = base;
        let (tip, apart) = self.continued(&tip, &stays)?;
        self.move_batch_branch(&tip)?;
        self.tip = tip;
        crash_point(CrashPoint::BaseFollowed);
        self.decide(Message::BaseMoved {
            base: Commit(self.base.to_string()),
            tip: Commit(self.tip.to_string()),
            fell_out,
            apart,
        });
        self.flush()?;
        Ok(Ok(()))
    }

    /// Weaves all that is woven onto another base, as far as it merges there.
    fn weave_onto(
        &self,
        base: &CommitId,
    ) -> Result<(CommitId, Vec<usize>, Vec<DroppedStrand>), RunError> {
        let weave_folder = WeaveFolder::of_store(&self.context.store)?;
        let (mut out, mut fell_out) = (Vec::new(), Vec::new());
        loop {
            let gone = self.batch.needing(&out);
            let stays = |task: &&usize| !out.contains(*task) && !gone.contains(*task);
            let tasks: Vec<usize> = self.batch.woven.iter().filter(stays).copied().collect();
            let ground = self.ground(base, &self.batch.earlier_of(&tasks))?;
            if let Some((place, files)) = ground.conflict {
                let earlier =
                    |task: &&usize| self.batch.tasks[**task].design.earlier.contains(&place);
                let lost: Vec<usize> = tasks.iter().filter(earlier).copied().collect();
                if !lost.is_empty() {
                    fell_out.extend(
                        lost.iter()
                            .map(|task| (self.id(*task), files.clone(), Vec::new())),
                    );
                    out.extend(lost);
                    continue;
                }
            }
            let strands: Vec<Strand> = tasks
                .iter()
                .filter_map(|task| Some(self.strand(*task, &self.task_commit(*task)?)))
                .collect();
            let woven = weave(&weave_folder, &ground.commit, &strands, Strategy::Merge)?;
            let mut outcomes = woven.outcomes.iter().zip(&tasks);
            let conflict = outcomes.find_map(|(outcome, task)| match outcome {
                StrandOutcome::Conflict(conflict) => Some((conflict, *task)),
                _ => None,
            });
            let Some((conflict, task)) = conflict else {
                return Ok((woven.tip, tasks, fell_out));
            };
            let with = conflict.with.iter().flatten();
            let with = with.map(|place| self.id(tasks[*place])).collect();
            fell_out.push((self.id(task), conflict.paths(), with));
            out.push(task);
        }
    }

    fn account(&self) -> Account {
        let record = &self.record;
        let command = record.attempts.validate.clone();
        let verdict = match (command, &self.batch.proof) {
            (Some(command), Proof::Proved { tree }) => match tree.parse() {
                Ok(tree) => TestVerdict::Proved {
                    command,
                    tree,
                    flaky: u32::try_from(self.batch.flaky_trees().len()).unwrap_or(u32::MAX),
                },
                Err(_) => TestVerdict::NoCommand,
            },
            (Some(command), Proof::Unproved { doubt, .. }) => match doubt {
                UnprovedReason::BaseRed => TestVerdict::BaseRed { command },
                UnprovedReason::Red => TestVerdict::Red { command },
                // What they said last is for the author's eyes.
                UnprovedReason::Trouble => TestVerdict::Trouble {
                    command,
                    why: "it did not finish".to_owned(),
                },
            },
            (Some(command), _) => TestVerdict::Trouble {
                command,
                why: "it was not run".to_owned(),
            },
            (None, _) => TestVerdict::NoCommand,
        };
        Account {
            batch: self.context.number,
            // Of several plans none stands for all tasks.
            plan: Some(&record.plan)
                .filter(|_| record.plans().len() == 1)
                .and_then(PlanOrigin::path)
                .and_then(Path::file_name)
                .map(|name| name.to_string_lossy().into_owned()),
            base: self.base.clone(),
            verdict,
            tasks: (0..self.batch.tasks.len())
                .map(|task| self.task_account(task))
                .collect(),
            time: self.time_so_far(),
            follows: self.batch.follows.clone(),
            builds_on: self.builds_on(),
            effects: CommitEffects::default(),
        }
    }

    fn task_account(&self, task: usize) -> TaskAccount {
        let (record, state) = (&self.record.tasks[task], &self.batch.tasks[task]);
        let fate = match state.state.ending() {
            Some(Ending::Merged { .. }) => TaskFate::Merged,
            Some(Ending::NoChanges { .. }) => TaskFate::NoChanges,
            Some(Ending::Conflicted { files, with, .. }) => TaskFate::Conflicted {
                files: files.clone(),
                with: with.clone(),
            },
            Some(Ending::Invalid { with, .. }) => TaskFate::Invalid { with: with.clone() },
            Some(Ending::Failed { error }) => TaskFate::Failed {
                error: error.clone(),
            },
            Some(Ending::TimedOut) => TaskFate::TimedOut,
            Some(Ending::Blocked { because }) => TaskFate::Blocked {
                because: because.clone(),
            },
            Some(Ending::Cancelled) | None => TaskFate::Cancelled,
        };
        TaskAccount {
            id: record.id.clone(),
            title: record.title.clone(),
            details: record.details.clone(),
            fate,
            commits: self.task_commit(task).into_iter().collect(),
            files: state.files.clone(),
            attempts: state.attempts,
            time: self.work_on(task),
            dollars: (state.spent.micro_usd > 0).then(|| usd(state.spent.micro_usd)),
            branch: state.published.as_ref().map(|(branch, _)| branch.clone()),
        }
    }
}

/// A branch of the server, and the commit that was pushed to it.
fn place(pushed: Option<&Pushed>) -> Option<(String, CommitId)> {
    let pushed = pushed?;
    Some((pushed.branch.clone(), pushed.commit.0.parse().ok()?))
}

impl Loop<'_> {
    /// The address that the result would be pushed to now, if nobody has confirmed it: it may be another one than when
    /// the batch began.
    fn unconfirmed_push(&mut self) -> Result<Option<String>, RunError> {
        // What is wrong with the remote is told by whoever pushes.
        let Ok(Some(remote)) = self.context.store.remote() else {
            return Ok(None);
        };
        let project = project_name(&self.context.store);
        let is_confirmed = may_push_from_now_on(&mut self.database, &project, remote.as_str())?;
        Ok((!is_confirmed).then(|| remote.as_str().to_owned()))
    }
}
