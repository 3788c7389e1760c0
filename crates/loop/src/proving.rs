//! The loop's part of a proof: which sets of tasks are woven and judged, and what their verdicts lead to.
//!
//! The search itself is the core's, the runs are on threads of their own.

use pleach_domain::batch::{Message, Proof, Validation};
use pleach_domain::bisect::{BisectStep, TestResult};
use pleach_domain::event::{BatchEvent, UnprovedReason};
use pleach_domain::task_state::Commit;

use super::executor::LoopHandle;
use super::run_loop::{Effect, Loop};
use super::{LoopNotice, RunError};
use crate::attempt::{Probe, ProbeEnded};
use pleach_domain::choice::{Strategy, Where};
use pleach_engine::validate::RunEnding;
use pleach_git::git::{CommitId, TreeId};
use pleach_git::weave::{Strand, StrandOutcome, WeaveFolder, tree_of, weave};
use pleach_log::batch_paths::project_name;
use pleach_log::database::ProcessPurpose;
use pleach_system::process::Cancel;
use pleach_system::slots::SlotGuard;

pub(super) struct Probing {
    /// The search that wants to know and the places of the set that is judged; none for the look at the base.
    search: Option<(u32, Vec<usize>)>,
    cancel: Cancel,
    #[expect(dead_code, reason = "holding it is its use")]
    slot: Option<SlotGuard>,
}

struct WovenSet {
    tip: CommitId,
    tree: TreeId,
}

impl Loop<'_> {
    /// Has the tests run on what the search wants to know of; tells whether the state moved.
    pub(super) fn prove(&mut self) -> Result<bool, RunError> {
        let Proof::Searching(searching) = &self.batch.proof else {
            return Ok(false);
        };
        if self.record.is_in_place() {
            return self.prove_in_place();
        }
        let fails = self.batch.design.settings.validation == Validation::Fail;
        if fails && searching.is_red() {
            let because = "the tests fail on the woven result, and on_invalid is \"fail\"";
            return Ok(self.doubt(UnprovedReason::Red, because.to_owned()));
        }
        self.stop_unwanted();
        let Proof::Searching(searching) = &self.batch.proof else {
            return Ok(false);
        };
        let search = self.batch.searches;
        let under_way: Vec<Vec<usize>> = self
            .probes
            .values()
            .filter_map(|probe| probe.search.as_ref())
            .filter(|(of, _)| *of == search)
            .map(|(_, set)| set.clone())
            .collect();
        match searching.search.next(self.probers(), &under_way) {
            BisectStep::Run(sets) => {
                for set in sets {
                    if self.probe(set)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            BisectStep::BaseRed => {
                let base = self.onto(&searching.strands)?;
                let base = &base.as_str()[..12];
                let because =
                    format!("the tests already fail on the base ({base}), so no task is blamed");
                Ok(self.doubt(UnprovedReason::BaseRed, because))
            }
            BisectStep::Proved => {
                let kept = searching.search.kept().to_vec();
                self.take_proof(&kept)
            }
        }
    }

    /// What verdicts hold for, besides a tree.
    pub(super) fn judge(&self) -> String {
        let tests = self.context.tests();
        let name = tests.map(|tests| tests.name()).unwrap_or_default();
        if self.record.is_in_place() {
            // What is ignored there is part of what they ran on.
            return format!("{name} in place");
        }
        if self.record.cluster.is_some() {
            // Its machines may differ from this one in whatever way.
            return format!("{name} on {}", Where::Slurm.word());
        }
        name
    }

    /// When the tests were green for a tree, as far as that counts.
    pub(super) fn green_since(&self, tree: &TreeId, judge: &str) -> Result<Option<u64>, RunError> {
        let project = project_name(&self.context.store);
        let since = self.database.green_since(&project, tree.as_str(), judge)?;
        let asked = self.batch.landing_asked.as_ref();
        let again = self.record.prove_again || asked.is_some_and(|asked| asked.prove_again);
        // What this process found out is found out.
        Ok(since.filter(|since| !again || *since >= self.began))
    }

    fn probers(&self) -> usize {
        self.batch.design.settings.mode.slots()
    }

    pub(super) fn take_proof(&mut self, kept: &[usize]) -> Result<bool, RunError> {
        let woven = match self.weave_set(kept)? {
            Ok(woven) => woven,
            Err(fell_out) => return Ok(self.decide(Message::TestsRan(fell_out))),
        };
        let Proof::Searching(searching) = &self.batch.proof else {
            return Ok(false);
        };
        let stays = searching.positions(kept);
        let is_whole = kept.len() == searching.strands.len();
        let (tip, apart) = if is_whole {
            (woven.tip, false)
        } else {
            self.continued(&woven.tip, &stays)?
        };
        self.move_batch_branch(&tip)?;
        self.tip = tip;
        Ok(self.decide(Message::Proved {
            base: Commit(self.base.to_string()),
            tip: Commit(self.tip.to_string()),
            tree: woven.tree.to_string(),
            apart,
        }))
    }

    pub(super) fn doubt(&mut self, doubt: UnprovedReason, because: String) -> bool {
        self.stop_proving();
        self.decide(Message::NotProved(doubt, because))
    }

    pub(super) fn stop_proving(&mut self) {
        for probe in self.probes.values() {
            probe.cancel.cancel();
        }
    }

    pub(super) fn stop_proving_at_once(&mut self) {
        for probe in self.probes.values() {
            probe.cancel.cancel_at_once();
        }
    }

    /// Stops runs that no search waits for.
    pub(super) fn stop_unwanted(&mut self) {
        for probe in self.probes.values() {
            let is_wanted = match (&self.batch.proof, &probe.search) {
                (Proof::Searching(searching), Some((search, set))) => {
                    *search == self.batch.searches && searching.search.wants(set)
                }
                (_, None) => self.wants_base_check(),
                _ => false,
            };
            if !is_wanted {
                probe.cancel.cancel();
            }
        }
    }

    /// Judges one set, or begins to; tells whether the state moved.
    pub(super) fn probe(&mut self, set: Vec<usize>) -> Result<bool, RunError> {
        let woven = match self.weave_set(&set)? {
            Ok(woven) => woven,
            Err(fell_out) => return Ok(self.decide(Message::TestsRan(fell_out))),
        };
        let Proof::Searching(searching) = &self.batch.proof else {
            return Ok(false);
        };
        let tasks: Vec<usize> = searching.positions(&set);
        let judge = self.judge();
        // That the base was green once says nothing about the machine as it is now; when something is red, it does.
        let is_base = set.is_empty() && !searching.strands.is_empty();
        let is_alone_with_its_tree = !self.record.is_in_place();
        if !is_base
            && is_alone_with_its_tree
            && let Some(since) = self.green_since(&woven.tree, &judge)?
        {
            return Ok(self.decide(Message::TestsRan(BatchEvent::TestsRan {
                tasks: tasks.iter().map(|task| self.id(*task)).collect(),
                tree: woven.tree.to_string(),
                judge,
                run: TestResult::Passed,
                number: None,
                log: None,
                took: 0,
                proved_at: Some(since),
            })));
        }
        let mut slot = None;
        if !self.executor.is_elsewhere() {
            slot = self.slots.try_take().map_err(RunError::io("take a slot"))?;
            if slot.is_none() {
                if self.probes.is_empty() {
                    self.wait_for_slots();
                }
                return Ok(false);
            }
        }
        self.waits_for_slots = false;
        let probe = Probe {
            number: self.runs + 1,
            tasks: tasks.iter().map(|task| self.id(*task)).collect(),
            commit: woven.tip,
            tree: woven.tree,
        };
        self.send_probe(probe, Some((self.batch.searches, set)), slot);
        Ok(false)
    }

    /// Has a run carried out, once what is pending is stored.
    pub(super) fn send_probe(
        &mut self,
        probe: Probe,
        search: Option<(u32, Vec<usize>)>,
        slot: Option<SlotGuard>,
    ) {
        let cancel = Cancel::default();
        let handle = LoopHandle {
            inbox: self.sender.clone(),
            whose: ProcessPurpose::Probe(probe.number),
            cancel: cancel.clone(),
        };
        self.runs = probe.number;
        let probing = Probing {
            search,
            cancel,
            slot,
        };
        self.probes.insert(probe.number, probing);
        self.outbox.push(Effect::Judge(Box::new(probe), handle));
    }

    /// The commit that some tasks are woven onto again: what is on the server, or the base, with the work of earlier
    /// batches that they build on.
    pub(super) fn onto(&self, tasks: &[usize]) -> Result<CommitId, RunError> {
        let pushed = self.batch.pushed.as_ref();
        let pushed = pushed.filter(|pushed| pushed.base == self.batch.base);
        let there = pushed.and_then(|pushed| Some((pushed.commit.0.parse().ok()?, pushed)));
        let ground = match there {
            Some((commit, pushed)) => {
                let places = self.earlier_beyond(tasks, &pushed.tasks);
                self.ground(&commit, &places)?
            }
            None => self.ground(&self.base, &self.batch.earlier_of(tasks))?,
        };
        Ok(ground.commit)
    }

    /// Weaves a set of the search; what no longer merges is the event that says so.
    fn weave_set(&self, set: &[usize]) -> Result<Result<WovenSet, BatchEvent>, RunError> {
        let Proof::Searching(searching) = &self.batch.proof else {
            unreachable!("only a search has sets");
        };
        let store = &self.context.store;
        if set.len() == searching.strands.len() {
            let tip = self.tip.clone();
            let tree = tree_of(store, &tip)?;
            return Ok(Ok(WovenSet { tip, tree }));
        }
        let tasks = searching.positions(set);
        let strands: Vec<Strand> = tasks
            .iter()
            .filter_map(|task| Some(self.strand(*task, &self.task_commit(*task)?)))
            .collect();
        let weave_folder = WeaveFolder::of_store(store)?;
        let onto = self.onto(&searching.strands)?;
        let woven = weave(&weave_folder, &onto, &strands, Strategy::Merge)?;
        let mut outcomes = woven.outcomes.iter().zip(&tasks);
        let fell_out = outcomes.find_map(|(outcome, task)| match outcome {
            StrandOutcome::Conflict(conflict) => Some((conflict, *task)),
            _ => None,
        });
        Ok(match fell_out {
            None => Ok(WovenSet {
                tip: woven.tip,
                tree: woven.tree,
            }),
            Some((conflict, task)) => {
                let with = conflict.with.iter().flatten();
                Err(BatchEvent::NoLongerMerges {
                    strand: self.id(task),
                    files: conflict.paths(),
                    with: with.map(|place| self.id(tasks[*place])).collect(),
                })
            }
        })
    }

    pub(super) fn take_in_judged(&mut self, mut ended: ProbeEnded) -> Result<(), RunError> {
        for note in std::mem::take(&mut ended.notes) {
            (self.told)(LoopNotice::Note(format!("tests: {note}")));
        }
        self.over_units.extend(ended.fence.take());
        let Some(probe) = self.probes.remove(&ended.number) else {
            return Ok(());
        };
        let Some((search, set)) = probe.search else {
            return self.take_in_base_check(ended);
        };
        let of_this_search = search == self.batch.searches;
        let is_wanted = match &self.batch.proof {
            Proof::Searching(searching) => of_this_search && searching.search.wants(&set),
            _ => false,
        };
        match ended.ending {
            // One of an earlier search was about another tree.
            RunEnding::Ran(run) if of_this_search => {
                let judged = self.judged(ended, run);
                self.decide(Message::TestsRan(judged));
            }
            // A run that nobody waits for any more has no say in the next search.
            RunEnding::Trouble(why) if is_wanted => {
                let because = format!("the tests could not be completed: {why}");
                self.doubt(UnprovedReason::Trouble, because);
            }
            RunEnding::Ran(_) | RunEnding::Trouble(_) | RunEnding::Stopped => {}
        }
        Ok(())
    }
}
