//! The part of the ledger about proofs and landing: who is left out and why, and what may be pushed.
//!
//! Knows the truth about the work, which the batch has to find out by running tests.

use pleach_domain::batch::{FailedStage, Validation};
use pleach_domain::bisect::TestResult;
use pleach_domain::choice::Landing;
use pleach_domain::event::{BatchEvent, MergeStatus, Rollback, TaskEvent, UnprovedReason};

use super::{Course, Ledger};
use crate::account::Now;

#[derive(Debug, Clone, Copy, PartialEq, Default)]
enum Verdict {
    #[default]
    Unknown,
    Sought {
        stage: Option<usize>,
    },
    Proved,
    Unproved(UnprovedReason),
}

/// What a person wants landed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
enum Asked {
    #[default]
    Nothing,
    IfProved,
    Unproved,
}

#[derive(Debug, Default)]
pub(super) struct Closing {
    verdict: Verdict,
    base: String,
    pushed: Vec<usize>,
    /// What was pushed last, on whatever base.
    pub(super) on_server: Vec<usize>,
    /// What is woven and was proved since, or given up as unproved.
    settled: Vec<usize>,
    /// What was part of a proved result and has not gone out since.
    proved: Vec<usize>,
    unproved_stages: Vec<usize>,
    /// The trees that the tests passed on.
    greens: Vec<String>,
    /// What does not merge any more, as far as this search has found.
    fell_out: Vec<usize>,
    /// What went out for a need that has to be out by the end of the transaction.
    blocked: Vec<usize>,
    /// What became of the branch when a person stopped it all.
    rollback: Option<Rollback>,
    asked: Asked,
    landed: bool,
    there: bool,
}

impl Closing {
    pub(super) fn new() -> Self {
        Self {
            base: "base 0".into(),
            ..Self::default()
        }
    }
}

impl Ledger<'_> {
    pub(super) fn take_of_proof(&mut self, event: &BatchEvent) {
        match event {
            BatchEvent::Validating { stage } => self.begin_search(*stage),
            BatchEvent::TestsRan {
                tasks, tree, run, ..
            } => {
                let sought = matches!(self.closing.verdict, Verdict::Sought { .. });
                if sought || !tasks.is_empty() {
                    self.check_sought();
                } else {
                    assert_eq!(self.course, Course::Running, "nobody looks at the base");
                }
                if *run == TestResult::Passed {
                    self.closing.greens.push(tree.clone());
                }
            }
            BatchEvent::NoLongerMerges { strand, .. } => {
                self.check_sought();
                let at = self.position(strand);
                assert!(self.woven.contains(&at) && !self.closing.pushed.contains(&at));
                self.closing.fell_out.push(at);
            }
            BatchEvent::Rewoven { base, apart, .. } => {
                self.check_blocked();
                if self.course == Course::Landing {
                    self.closing.verdict = Verdict::Unknown;
                    let on_server = &self.closing.on_server;
                    self.closing.proved.retain(|at| on_server.contains(at));
                    // On another base everything is judged anew.
                    self.closing.pushed.clear();
                    let falls_off = |at: &&usize| {
                        let version = &self.tasks[**at].version;
                        self.truth.falls_off(version, &base.0)
                    };
                    let left = self.woven.iter().find(falls_off);
                    assert_eq!(left, None, "it does not merge there");
                }
                if *apart {
                    self.closing.on_server.clear();
                }
                self.closing.base.clone_from(&base.0);
            }
            BatchEvent::Proved { tree } => {
                self.check_sought();
                self.check_blocked();
                assert_eq!(*tree, self.tree(), "what is proved is what is woven");
                let tested = self.closing.greens.contains(tree);
                assert!(tested, "what is proved was tested");
                assert!(!self.is_red(&self.woven), "what is proved is green");
                self.closing.verdict = Verdict::Proved;
                self.closing.proved.clone_from(&self.woven);
                self.closing.settled.clone_from(&self.woven);
                self.closing.unproved_stages.clear();
            }
            BatchEvent::NotProved { doubt, .. } => self.give_up_search(*doubt),
            event => self.take_of_landing(event),
        }
    }

    fn take_of_landing(&mut self, event: &BatchEvent) {
        match event {
            BatchEvent::CancelRequested { rollback } => {
                self.closing.rollback = Some(*rollback);
            }
            BatchEvent::Reopened => {
                self.forget_doubts();
                self.closing.rollback = None;
                (self.closing.asked, self.closing.landed) = (Asked::Nothing, false);
                self.closing.there = false;
            }
            BatchEvent::LandingAsked {
                unproved,
                prove_again,
                ..
            } => {
                let removed = Some(Rollback::Remove);
                assert_ne!(self.closing.rollback, removed, "its branch is gone");
                assert!(!self.woven.is_empty(), "there is nothing to land");
                if *prove_again {
                    let on_server = &self.closing.on_server;
                    self.closing.proved.retain(|at| on_server.contains(at));
                    self.closing.verdict = Verdict::Unknown;
                } else if !unproved {
                    self.forget_doubts();
                } else if let Verdict::Sought { .. } = self.closing.verdict {
                    self.closing.verdict = Verdict::Unknown;
                }
                let asked = if *unproved {
                    Asked::Unproved
                } else {
                    Asked::IfProved
                };
                (self.closing.asked, self.closing.landed) = (asked, false);
                self.closing.there = false;
            }
            BatchEvent::Landing { .. } => self.check_landing(),
            BatchEvent::Pushed { .. } => {
                self.check_landing();
                assert!(!self.closing.there, "it landed already");
                self.closing.pushed.clone_from(&self.woven);
                self.closing.on_server.clone_from(&self.woven);
            }
            // Also after it was stopped.
            BatchEvent::Landed { .. } => {
                self.check_landing();
                assert!(!self.closing.there, "it landed already");
                (self.closing.landed, self.closing.there) = (true, true);
            }
            BatchEvent::NotLanded { .. } => {
                self.check_landing();
                assert!(!self.closing.landed, "it landed already");
                self.closing.landed = true;
            }
            _ => {}
        }
    }

    /// What was doubted or left open is found out anew.
    fn forget_doubts(&mut self) {
        if self.closing.verdict != Verdict::Proved {
            self.closing.verdict = Verdict::Unknown;
        }
    }

    /// A person who wants something tried again may have mended what was in doubt.
    pub(super) fn asked_again(&mut self) {
        self.closing.unproved_stages.clear();
        if let Verdict::Unproved(_) = self.closing.verdict {
            self.closing.verdict = Verdict::Unknown;
        }
    }

    fn begin_search(&mut self, stage: Option<usize>) {
        assert_ne!(self.design.settings.validation, Validation::Unset);
        assert!(!self.woven.is_empty(), "there is nothing to prove");
        assert_eq!(
            self.closing.verdict,
            Verdict::Unknown,
            "it is known already"
        );
        match stage {
            Some(stage) => {
                assert_eq!(self.course, Course::Running);
                assert!(self.stage_is_over(stage), "stage {stage} is not over");
            }
            None => assert!(matches!(self.course, Course::Merging | Course::Landing)),
        }
        self.closing.verdict = Verdict::Sought { stage };
        self.closing.fell_out.clear();
    }

    fn give_up_search(&mut self, doubt: UnprovedReason) {
        self.check_sought();
        let base_is_red = self.is_red(&self.closing.pushed);
        match doubt {
            UnprovedReason::BaseRed => assert!(base_is_red, "the base is green"),
            UnprovedReason::Red => {
                assert_eq!(self.design.settings.validation, Validation::Fail);
                assert!(!base_is_red && self.is_red(&self.woven), "it is not red");
            }
            UnprovedReason::Trouble => {}
        }
        if let Verdict::Sought { stage: Some(stage) } = self.closing.verdict {
            self.closing.unproved_stages.push(stage);
        }
        self.closing.verdict = Verdict::Unproved(doubt);
        self.closing.settled.clone_from(&self.woven);
    }

    fn check_sought(&self) {
        let sought = matches!(self.closing.verdict, Verdict::Sought { .. });
        assert!(sought, "nobody asked the tests");
        assert!(matches!(self.course, Course::Running | Course::Merging));
    }

    /// Whatever made it has all that it needs, and nobody went out for nothing.
    fn check_blocked(&mut self) {
        for at in std::mem::take(&mut self.closing.blocked) {
            assert!(!self.needs_are_met(at), "{at} is left out for nothing");
        }
        for (at, task) in self.tasks.iter().enumerate() {
            assert!(
                !task.now.is_success() || self.needs_are_met(at),
                "{at} stays without what it needs"
            );
        }
    }

    /// The name of the tree of all that is woven.
    fn tree(&self) -> String {
        let tasks = self.woven.iter();
        let mut versions: Vec<&str> = tasks.map(|at| self.tasks[*at].version.as_str()).collect();
        versions.sort_unstable();
        format!("{} {}", self.closing.base, versions.join(" "))
    }

    fn is_red(&self, tasks: &[usize]) -> bool {
        let versions: Vec<&str> = tasks
            .iter()
            .map(|at| self.tasks[*at].version.as_str())
            .collect();
        self.truth.is_red(&self.closing.base, &versions)
    }

    /// What was woven goes out again only for a reason, and after it was pushed only if the base moves.
    pub(super) fn check_leaving(&mut self, at: usize, event: &TaskEvent) {
        let was = self.tasks[at].now;
        let stays = self.closing.pushed.contains(&at) && self.course != Course::Landing;
        assert!(!stays, "{at} is on the server");
        match event {
            TaskEvent::Invalid { .. } => {
                self.check_sought();
                assert_eq!(self.design.settings.validation, Validation::Drop);
                assert!(was == Now::Merged && self.is_to_blame(at), "{at} is fine");
            }
            TaskEvent::Conflicted { .. } => {
                let found = self.closing.fell_out.contains(&at) || self.course == Course::Landing;
                assert!(was == Now::Merged && found, "{at} merges");
            }
            TaskEvent::Blocked { .. } if self.needs_are_met(at) => self.closing.blocked.push(at),
            TaskEvent::Blocked { .. } => {}
            _ => panic!("{at} ended twice: {event:?}"),
        }
        self.woven.retain(|woven| *woven != at);
    }

    /// Whether it is broken, or does not go together with one that was woven before.
    fn is_to_blame(&self, at: usize) -> bool {
        let version = |at: usize| self.tasks[at].version.as_str();
        let mut before = self.woven.iter().take_while(|woven| **woven != at);
        self.truth.is_guilty(version(at))
            || before.any(|before| self.truth.clash(version(*before), version(at)))
    }

    pub(super) fn take_woven(&mut self, at: usize) {
        self.closing.settled.retain(|settled| *settled != at);
        self.closing.proved.retain(|proved| *proved != at);
        self.closing.verdict = Verdict::Unknown;
    }

    /// With a command set, what the stages before wove is proved, or nobody hopes for that any more.
    pub(super) fn check_proved_before(&self, stage: usize) {
        let settled = |at: &usize| {
            let is_earlier = self.design.tasks[*at].stage.is_some_and(|own| own < stage);
            !is_earlier || self.closing.settled.contains(at)
        };
        let unset = self.design.settings.validation == Validation::Unset;
        assert!(
            unset || self.woven.iter().all(settled),
            "stage {stage} builds on what is not proved"
        );
        let searches = matches!(self.closing.verdict, Verdict::Sought { .. });
        assert!(!searches, "stage {stage} goes on while the tests run");
    }

    /// Whether nothing speaks against what a stage wove.
    pub(super) fn is_stage_proved(&self, stage: usize) -> bool {
        let open = matches!(
            self.closing.verdict,
            Verdict::Unknown | Verdict::Sought { .. }
        );
        let wove = self.of_stage(stage).any(|now| now == Now::Merged);
        let unset = self.design.settings.validation == Validation::Unset;
        let left_open = !unset && open && wove;
        !left_open && !self.closing.unproved_stages.contains(&stage)
    }

    pub(super) fn is_stage_unproved(&self, stage: usize) -> bool {
        self.closing.unproved_stages.contains(&stage)
    }

    pub(super) fn merge_status(&self, stage: usize) -> MergeStatus {
        let has = |wanted: Now| self.of_stage(stage).any(|now| now == wanted);
        if self.is_stage_unproved(stage) || has(Now::Invalid) {
            MergeStatus::TestFailed
        } else if has(Now::Conflicted) {
            MergeStatus::Conflicts
        } else if has(Now::Merged) {
            MergeStatus::Success
        } else {
            MergeStatus::Skipped
        }
    }

    /// Nothing is landed that is not proved, but where nobody wants proofs or a person wants it all the same.
    fn check_landing(&self) {
        let settings = &self.design.settings;
        assert!(matches!(self.course, Course::Merging | Course::Landing));
        assert!(!self.woven.is_empty(), "there is nothing to land");
        let unset = settings.validation == Validation::Unset;
        let proved = unset || self.closing.verdict == Verdict::Proved;
        let unproved = self.closing.asked == Asked::Unproved;
        assert!(proved || unproved, "it lands without a proof");
        if self.closing.asked == Asked::Nothing {
            assert_ne!(settings.landing, Landing::Nowhere);
            assert!(self.went_well(), "what failed does not land by itself");
        }
    }

    /// Whether a batch that nobody stopped completes.
    pub(super) fn went_well(&self) -> bool {
        let stages = 0..self.stages.len();
        let stage_failed = self.design.failed_stage == FailedStage::StopsThePlan
            && stages.into_iter().any(|stage| !self.stage_went_well(stage));
        let unproved = matches!(self.closing.verdict, Verdict::Unproved(_));
        let needless = self.tasks.iter().all(|task| task.now == Now::Unchanged);
        let some = !self.woven.is_empty() || needless;
        let unset = self.design.settings.validation == Validation::Unset;
        let open = !unset
            && (self.closing.asked == Asked::Unproved)
            && self.closing.verdict != Verdict::Proved;
        let open = open && !self.woven.is_empty();
        some && !stage_failed && !unproved && !open && !self.is_a_rule_broken()
    }

    pub(super) fn check_landed(&self) {
        let unset = self.design.settings.validation == Validation::Unset;
        let proved = unset || self.closing.verdict == Verdict::Proved;
        let wanted = match self.closing.asked {
            Asked::Nothing => self.went_well() && self.design.settings.landing != Landing::Nowhere,
            Asked::IfProved => proved,
            Asked::Unproved => true,
        };
        let wanted = wanted && !self.woven.is_empty();
        assert_eq!(self.closing.landed, wanted, "whether it lands");
        let open = matches!(
            self.closing.verdict,
            Verdict::Unknown | Verdict::Sought { .. }
        );
        assert!(
            unset || (self.closing.asked == Asked::Unproved) || self.woven.is_empty() || !open,
            "it ends without asking the tests"
        );
    }

    pub(crate) fn is_done(&self, at: usize) -> bool {
        let unset = self.design.settings.validation == Validation::Unset;
        match self.tasks[at].now {
            Now::Unchanged => true,
            Now::Merged => unset || self.closing.proved.contains(&at),
            _ => false,
        }
    }
}
