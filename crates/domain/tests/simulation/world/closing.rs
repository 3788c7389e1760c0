//! Those who run the tests and who land: they take their time, and may find trouble.
//!
//! Asks the search what to try; that its answers are right is for the ledger to say.

use pleach_domain::batch::{DroppedStrand, Message, Proof, Validation};
use pleach_domain::bisect::{BisectStep, TestResult};
use pleach_domain::event::{BatchEvent, UnprovedReason};
use pleach_domain::task_state::{Commit, Ending, TaskState};

use super::{OrCrash, World};

/// A run of the tests that is under way.
pub(super) struct Probe {
    /// The places of the set that is judged.
    set: Vec<usize>,
    /// The positions of its tasks.
    tasks: Vec<usize>,
}

impl World<'_> {
    pub(super) fn prove(&mut self) -> OrCrash {
        let Proof::Searching(searching) = &self.batch.proof else {
            panic!("there is nothing to prove");
        };
        let fails = self.design.settings.validation == Validation::Fail;
        if fails && searching.is_red() {
            return self.doubt(UnprovedReason::Red);
        }
        let search = &searching.search;
        self.probes.retain(|_, probe| search.wants(&probe.set));
        let under_way: Vec<Vec<usize>> = self
            .probes
            .values()
            .map(|probe| probe.set.clone())
            .collect();
        match search.next(self.probers, &under_way) {
            BisectStep::BaseRed => self.doubt(UnprovedReason::BaseRed),
            BisectStep::Proved => {
                let kept = search.kept().to_vec();
                if let Some(fell_out) = self.fell_out(&kept) {
                    return self.hear(Message::TestsRan(fell_out));
                }
                let tree = self.tree(&kept);
                let apart = self.stands_apart();
                self.hear(Message::Proved {
                    base: Commit(self.base.clone()),
                    tip: Commit(format!("tip of {tree}")),
                    tree,
                    apart,
                })
            }
            BisectStep::Run(sets) => {
                assert!(
                    !sets.is_empty() || !self.probes.is_empty(),
                    "the search waits for nothing"
                );
                for set in sets {
                    let before = self.log.len();
                    self.probe(set)?;
                    if self.log.len() > before {
                        break;
                    }
                }
                Ok(())
            }
        }
    }

    /// What is woven while the tests run may end their search without another one.
    pub(super) fn stop_forgotten_probes(&mut self) {
        if !matches!(self.batch.proof, Proof::Searching(_)) {
            self.probes.clear();
        }
    }

    fn probe(&mut self, set: Vec<usize>) -> OrCrash {
        if let Some(fell_out) = self.fell_out(&set) {
            return self.hear(Message::TestsRan(fell_out));
        }
        if self.greens.contains(&self.tree(&set)) {
            let judged = self.judged(&set, TestResult::Passed, None);
            return self.hear(Message::TestsRan(judged));
        }
        self.runs += 1;
        let tasks = self.positions(&set);
        self.probes.insert(self.runs, Probe { set, tasks });
        Ok(())
    }

    fn positions(&self, set: &[usize]) -> Vec<usize> {
        match &self.batch.proof {
            Proof::Searching(searching) => searching.positions(set),
            _ => panic!("only a search has sets"),
        }
    }

    fn judged(&self, set: &[usize], run: TestResult, number: Option<u32>) -> BatchEvent {
        let tasks = self.positions(set);
        BatchEvent::TestsRan {
            tasks: tasks.iter().map(|at| self.id(*at)).collect(),
            tree: self.tree(set),
            judge: "judge".into(),
            run,
            number,
            log: None,
            took: 1,
            proved_at: None,
        }
    }

    /// What the tests say of the base alone.
    pub(super) fn base_judged(&self) -> BatchEvent {
        let red = self.truth.is_red(&self.base, &[]);
        BatchEvent::TestsRan {
            tasks: Vec::new(),
            tree: format!("{} ", self.base),
            judge: "judge".into(),
            run: if red {
                TestResult::Failed
            } else {
                TestResult::Passed
            },
            number: Some(self.batch.next_run()),
            log: None,
            took: 1,
            proved_at: None,
        }
    }

    pub(super) fn version(&self, at: usize) -> &str {
        match &self.batch.tasks[at].state {
            TaskState::Built { commit } | TaskState::Ended(Ending::Merged { commit }) => &commit.0,
            state => panic!("{at} is {} and has no branch", state.as_str()),
        }
    }

    /// The versions that make up a set: what was pushed belongs to all of them.
    fn versions(&self, set: &[usize]) -> Vec<&str> {
        let woven = self.batch.woven.iter().copied();
        let pushed = woven.filter(|at| self.batch.is_pushed(*at));
        let tasks = pushed.chain(self.positions(set));
        tasks.map(|at| self.version(at)).collect()
    }

    fn tree(&self, set: &[usize]) -> String {
        let mut versions = self.versions(set);
        versions.sort_unstable();
        format!("{} {}", self.base, versions.join(" "))
    }

    /// The first strand of a set that needs the lines of one that is out.
    fn fell_out(&self, set: &[usize]) -> Option<BatchEvent> {
        let Proof::Searching(searching) = &self.batch.proof else {
            return None;
        };
        let version = |place: usize| self.version(searching.strands[place]);
        let out = |place: usize| (0..place).filter(|before| !set.contains(before));
        let fell = set.iter().find(|place| {
            let mut out = out(**place);
            out.any(|out| self.truth.leans_on(version(**place), version(out)))
        })?;
        Some(BatchEvent::NoLongerMerges {
            strand: self.id(searching.strands[*fell]),
            files: vec!["f".into()],
            with: Vec::new(),
        })
    }

    fn doubt(&mut self, doubt: UnprovedReason) -> OrCrash {
        self.probes.clear();
        self.hear(Message::NotProved(doubt, "the tests".into()))
    }

    pub(super) fn probe_ends(&mut self, number: u32) -> OrCrash {
        let probe = self.probes.remove(&number).unwrap();
        if self.dice.one_in(30) {
            return self.doubt(UnprovedReason::Trouble);
        }
        assert_eq!(
            self.positions(&probe.set),
            probe.tasks,
            "places mean the same tasks as long as somebody waits for a run on them"
        );
        let red = self.truth.is_red(&self.base, &self.versions(&probe.set));
        if !red {
            self.greens.insert(self.tree(&probe.set));
        }
        let run = if red {
            TestResult::Failed
        } else {
            TestResult::Passed
        };
        let judged = self.judged(&probe.set, run, Some(number));
        self.hear(Message::TestsRan(judged))
    }

    pub(super) fn landing_ends(&mut self) -> OrCrash {
        self.landing = false;
        let may_move = self.batch.base_moves < 3;
        if may_move && self.dice.one_in(3) {
            return self.base_moves();
        }
        if self.dice.one_in(4) {
            return self.hear(Message::Landed(BatchEvent::NotLanded {
                because: "no remote".into(),
                hint: None,
                no_server: false,
            }));
        }
        self.lands()
    }

    pub(super) fn lands(&mut self) -> OrCrash {
        let asked = self.batch.landing_asked.as_ref();
        let into = asked.and_then(|asked| asked.into.clone());
        if into.is_none() {
            let branch = "pleach/batch".to_owned();
            let commit = self.batch.tip.clone().unwrap();
            self.hear(Message::Landed(BatchEvent::Pushing {
                branch: branch.clone(),
                commit: commit.clone(),
                because: None,
            }))?;
            self.hear(Message::Landed(BatchEvent::Pushed { branch, commit }))?;
        }
        let pr_url = self.dice.one_in(2).then(|| "https://forge/1".to_owned());
        self.hear(Message::Landed(BatchEvent::Landed { pr_url, into }))?;
        self.check_too_late(&self.id(0));
        Ok(())
    }

    fn base_moves(&mut self) -> OrCrash {
        self.bases += 1;
        self.base = format!("base {}", self.bases);
        let falls_off = |at: &&usize| self.truth.falls_off(self.version(**at), &self.base);
        let fell_out = self.batch.woven.iter().filter(falls_off);
        let fell_out: Vec<DroppedStrand> = fell_out
            .map(|at| (self.id(*at), vec!["f".into()], Vec::new()))
            .collect();
        let apart = self.stands_apart();
        self.hear(Message::BaseMoved {
            base: Commit(self.base.clone()),
            tip: Commit(format!("tip on {}", self.base)),
            fell_out,
            apart,
        })
    }

    /// Whether a result that was made anew cannot continue what is on the server.
    fn stands_apart(&mut self) -> bool {
        let moved = self.batch.pushed.as_ref().map(|pushed| &pushed.base);
        moved.is_some_and(|base| *base != self.batch.base) && self.dice.one_in(3)
    }
}
