//! What the tests say of what is woven, and what follows for its tasks.
//!
//! Knows sets of tasks, not how they are woven or who runs the tests.

use super::{BadEvent, Batch, BatchStatus, LostProof, Validation};
use crate::bisect::{Bisection, LeftOutReason, TestResult};
use crate::event::{BatchEvent, UnprovedReason};
use crate::id::TaskId;
use crate::task_state::{Ending, TaskState};

/// So many tasks are named, and more are counted.
const MOST_NAMED: usize = 5;

/// What the tests say of what is woven.
#[derive(Debug, Clone, PartialEq)]
pub enum Proof {
    /// Nothing: they have not run since something was woven.
    Unknown,
    Searching(ProofSearch),
    /// They are green.
    Proved {
        tree: String,
    },
    Unproved {
        doubt: UnprovedReason,
        because: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestRun {
    /// How many tasks were woven then.
    pub tasks: usize,
    pub tree: String,
    pub run: TestResult,
    /// Its number within the batch; none where the verdict was remembered.
    pub number: Option<u32>,
    pub log: Option<u32>,
    /// When the tests ran whose verdict was remembered, in milliseconds since 1970.
    pub proved_at: Option<u64>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ProofSearch {
    /// The stage that ends with it, or the whole batch.
    pub stage: Option<usize>,
    /// The positions of the tasks it is about, in the order they were woven.
    pub strands: Vec<usize>,
    pub search: Bisection,
    /// What does not merge any more: its place, the files, and whom it collides with.
    pub no_longer_merging: Vec<(usize, Vec<String>, Vec<TaskId>)>,
}

impl ProofSearch {
    pub fn positions(&self, set: &[usize]) -> Vec<usize> {
        set.iter().map(|place| self.strands[*place]).collect()
    }

    /// Whether the tests fail for somebody's fault, also where that one is found already.
    pub fn is_red(&self) -> bool {
        let is_guilty = |why: &LeftOutReason| matches!(why, LeftOutReason::Guilty { .. });
        let mut left_out = self.search.left_out().iter();
        self.search.is_red() || left_out.any(|left_out| is_guilty(&left_out.why))
    }

    fn place(&self, position: usize) -> Option<usize> {
        self.strands.iter().position(|strand| *strand == position)
    }
}

impl Batch {
    /// Whether a task is done for good: nothing to change, or woven and proved where that is wanted.
    pub fn is_done(&self, position: usize) -> bool {
        match self.tasks[position].state.ending() {
            Some(Ending::NoChanges { .. }) => true,
            Some(Ending::Merged { .. }) => {
                let unset = self.design.settings.validation == Validation::Unset;
                unset || self.tasks[position].proved
            }
            _ => false,
        }
    }

    /// Whether what is woven may land: it is proved, or nobody wants proofs of it.
    pub fn may_land(&self) -> bool {
        let unset = self.design.settings.validation == Validation::Unset;
        unset || self.lands_unproved() || matches!(self.proof, Proof::Proved { .. })
    }

    pub fn lands_unproved(&self) -> bool {
        self.landing_asked
            .as_ref()
            .is_some_and(|asked| asked.unproved)
    }

    /// Why a landing that a person asked for was refused: there is no proof.
    pub fn landing_refused(&self) -> Option<&str> {
        let refused = self.status.is_over() && self.landing_asked.is_some() && !self.may_land();
        match &self.proof {
            Proof::Unproved { because, .. } if refused => Some(because),
            _ => None,
        }
    }

    /// Whether the work of a task is on the server, as it is woven now.
    pub fn is_pushed(&self, position: usize) -> bool {
        let pushed = self.pushed.as_ref();
        // On another base everything is judged anew, whatever is on the server.
        let pushed = pushed.filter(|pushed| pushed.base == self.base);
        pushed.is_some_and(|pushed| pushed.tasks.contains(&position))
    }

    /// The number of the run that ends next: in the order in which they are told, without gaps.
    pub fn next_run(&self) -> u32 {
        let numbers = self.test_runs.iter().filter_map(|run| run.number);
        numbers.max().unwrap_or(0) + 1
    }

    /// The highest number of a log of a run that came to a verdict.
    pub fn last_log(&self) -> u32 {
        let logs = self.test_runs.iter().filter_map(|run| run.log);
        logs.max().unwrap_or(0)
    }

    pub fn is_judged(&self, log: u32) -> bool {
        let mut runs = self.test_runs.iter();
        runs.any(|run| run.log == Some(log))
    }

    /// Whether the tests failed on the base whenever they ran on it last, and more than once.
    pub fn is_base_red(&self) -> bool {
        let of_base = || self.test_runs.iter().filter(|run| run.tasks == 0);
        let Some(last) = of_base().next_back() else {
            return false;
        };
        let mut runs = of_base().filter(|run| run.tree == last.tree);
        runs.clone().count() > 1 && runs.all(|run| run.run == TestResult::Failed)
    }

    /// When the tests ran on what is proved, where that was before this batch asked for it.
    pub fn proved_earlier(&self) -> Option<u64> {
        let Proof::Proved { tree } = &self.proof else {
            return None;
        };
        let of_tree = |run: &&TestRun| run.tree == *tree && run.run == TestResult::Passed;
        let last = self.test_runs.iter().rfind(of_tree);
        last.and_then(|run| run.proved_at)
    }

    /// The trees that the tests both failed and passed on.
    pub fn flaky_trees(&self) -> Vec<&str> {
        let of = |verdict: TestResult| {
            let runs = self.test_runs.iter();
            runs.filter(move |run| run.run == verdict)
                .map(|run| run.tree.as_str())
        };
        let mut trees: Vec<&str> = of(TestResult::Failed)
            .filter(|tree| of(TestResult::Passed).any(|green| green == *tree))
            .collect();
        trees.sort_unstable();
        trees.dedup();
        trees
    }

    pub(super) fn apply_to_proof(&mut self, event: &BatchEvent) -> Result<(), BadEvent> {
        match event {
            BatchEvent::Validating { stage } => {
                self.searches += 1;
                self.proof = Proof::Searching(self.new_search(*stage));
            }
            BatchEvent::TestsRan { .. } | BatchEvent::NoLongerMerges { .. } => {
                self.apply_to_search(event)?;
            }
            BatchEvent::Proved { tree } => {
                self.proof = Proof::Proved { tree: tree.clone() };
                self.lost_proof = None;
                // It is about everything that is woven.
                self.unproved_stages.clear();
                for task in &self.woven {
                    let task = &mut self.tasks[*task];
                    (task.proved, task.was_done) = (true, true);
                }
            }
            BatchEvent::NotProved { doubt, because } => {
                if let Proof::Searching(searching) = &self.proof {
                    self.unproved_stages.extend(searching.stage);
                }
                self.proof = Proof::Unproved {
                    doubt: *doubt,
                    because: because.clone(),
                };
            }
            BatchEvent::Rewoven { base, tip, .. } => {
                // A proof weaves onto the base that there is: what is on the server stays there.
                if self.status == BatchStatus::Landing {
                    self.lose_proof();
                    self.base_moves += 1;
                    self.base = Some(base.clone());
                }
                self.tip = Some(tip.clone());
                if !matches!(self.proof, Proof::Searching(_)) {
                    self.proof = Proof::Unknown;
                }
            }
            BatchEvent::LandingAsked {
                prove_again: true, ..
            } => {
                self.lose_proof();
                self.proof = Proof::Unknown;
            }
            // The same goes for what was given up while it was being proved.
            BatchEvent::Reopened
            | BatchEvent::LandingAsked {
                unproved: false, ..
            } if !matches!(self.proof, Proof::Proved { .. }) => {
                self.proof = Proof::Unknown;
            }
            BatchEvent::LandingAsked { .. } if matches!(self.proof, Proof::Searching(_)) => {
                self.proof = Proof::Unknown;
            }
            _ => {}
        }
        Ok(())
    }

    /// What is proved on one base is not on another; what is on the server was, and stays there.
    fn lose_proof(&mut self) {
        if matches!(self.proof, Proof::Proved { .. }) {
            let base = self.base.clone();
            self.lost_proof = Some(LostProof { base });
        }
        let pushed = self.pushed.as_ref();
        let is_there = |task: &usize| pushed.is_some_and(|pushed| pushed.tasks.contains(task));
        for task in self.woven.iter().filter(|task| !is_there(task)) {
            self.tasks[*task].proved = false;
        }
    }

    /// A person who wants something tried again may have mended what kept the tests from being green.
    pub(super) fn hope_again(&mut self) {
        self.unproved_stages.clear();
        if matches!(self.proof, Proof::Unproved { .. }) {
            self.proof = Proof::Unknown;
        }
    }

    fn apply_to_search(&mut self, event: &BatchEvent) -> Result<(), BadEvent> {
        let position = |task: &TaskId| {
            let stranger = || BadEvent::UnknownTask(task.clone());
            self.position(task).ok_or_else(stranger)
        };
        match event {
            BatchEvent::TestsRan {
                tasks,
                run,
                tree,
                number,
                log,
                proved_at,
                ..
            } => {
                let positions: Vec<usize> = tasks.iter().map(position).collect::<Result<_, _>>()?;
                self.test_runs.push(TestRun {
                    tasks: tasks.len(),
                    tree: tree.clone(),
                    run: *run,
                    number: *number,
                    log: log.or(*number),
                    proved_at: *proved_at,
                });
                // What is on the server belongs to the base of the search.
                let strands = positions.into_iter().filter(|at| !self.is_pushed(*at));
                let strands: Vec<usize> = strands.collect();
                if let Proof::Searching(searching) = &mut self.proof {
                    let places = strands.iter().map(|at| searching.place(*at));
                    // A verdict on somebody who is out by now says nothing about the others.
                    if let Some(set) = places.collect::<Option<Vec<usize>>>() {
                        searching.search.ran(&set, *run);
                    }
                }
            }
            BatchEvent::NoLongerMerges {
                strand,
                files,
                with,
            } => {
                let position = position(strand)?;
                if let Proof::Searching(searching) = &mut self.proof
                    && let Some(place) = searching.place(position)
                    && searching.search.kept().contains(&place)
                {
                    searching.search.conflicted(place);
                    let fell_out = (place, files.clone(), with.clone());
                    searching.no_longer_merging.push(fell_out);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn new_search(&self, stage: Option<usize>) -> ProofSearch {
        let woven = self.woven.iter().copied();
        let strands: Vec<usize> = woven.filter(|task| !self.is_pushed(*task)).collect();
        let needs = strands.iter().enumerate().map(|(place, task)| {
            let needed = self.needed_by(*task);
            let before = strands[..place].iter().enumerate();
            before
                .filter(|(_, other)| needed[**other])
                .map(|(place, _)| place)
                .collect()
        });
        ProofSearch {
            stage,
            search: Bisection::new(needs.collect()),
            strands,
            no_longer_merging: Vec::new(),
        }
    }

    /// Everything a task needs, directly or not.
    fn needed_by(&self, position: usize) -> Vec<bool> {
        let mut reached = vec![false; self.tasks.len()];
        let mut stack = vec![position];
        while let Some(at) = stack.pop() {
            for need in &self.tasks[at].design.needs {
                if !std::mem::replace(&mut reached[*need], true) {
                    stack.push(*need);
                }
            }
        }
        reached
    }

    /// What a task that would be part of the result needs and has not, because it went out meanwhile.
    pub(crate) fn lost_need(&self, position: usize) -> Option<usize> {
        let state = &self.tasks[position].state;
        let would_be_in = matches!(
            state,
            TaskState::Built { .. } | TaskState::Ended(Ending::NoChanges { .. })
        );
        let mut needs = self.tasks[position].design.needs.iter();
        needs
            .find(|need| would_be_in && !self.tasks[**need].state.is_success())
            .copied()
    }

    /// The tasks that made it and need one of those that go out.
    pub fn needing(&self, gone: &[usize]) -> Vec<usize> {
        let made_it = |at: &usize| self.tasks[*at].state.is_success() && !gone.contains(at);
        let needs_one = |at: &usize| {
            let needed = self.needed_by(*at);
            gone.iter().any(|gone| needed[*gone])
        };
        let tasks = (0..self.tasks.len()).filter(made_it);
        tasks.filter(needs_one).collect()
    }

    /// Why each guilty task of a search is out: its position, the words, and the tasks it is red with.
    pub(super) fn guilty(&self, searching: &ProofSearch) -> Vec<(usize, String, Vec<TaskId>)> {
        let left_out = searching.search.left_out().iter();
        left_out
            .filter_map(|left_out| {
                let LeftOutReason::Guilty { first_red } = &left_out.why else {
                    return None;
                };
                let position = searching.strands[left_out.place];
                let others = first_red.iter().filter(|place| **place != left_out.place);
                let others: Vec<TaskId> = others
                    .map(|place| self.tasks[searching.strands[*place]].design.id.clone())
                    .collect();
                let names: Vec<&str> = others.iter().map(TaskId::as_str).collect();
                let because = match names.as_slice() {
                    [] => "the tests fail with this task alone".to_owned(),
                    some if some.len() <= MOST_NAMED => {
                        let some = some.join(", ");
                        format!("the tests pass with {some} and fail when this task is added")
                    }
                    some => {
                        let many = some.len();
                        format!("the tests pass with {many} other tasks and fail when this task is added")
                    }
                };
                Some((position, because, others))
            })
            .collect()
    }
}
