//! The words of stories about proofs, landing and resolving.
//!
//! `tests` runs the tests until they have nothing more to say, `1,2+3:break` does where 1 breaks them alone and 2
//! and 3 do together, `base:breaks` where the base does.

use pleach_domain::batch::{LandingRequest, Message, Proof};
use pleach_domain::bisect::{BisectStep, TestResult};
use pleach_domain::event::{BatchEvent, UnprovedReason};
use pleach_domain::id::TaskId;
use pleach_domain::task_state::Commit;

use super::Story;

fn commit(text: &str) -> Commit {
    Commit(text.to_owned())
}

fn judged(tasks: Vec<TaskId>, run: TestResult) -> Message {
    let names: Vec<&str> = tasks.iter().map(TaskId::as_str).collect();
    Message::TestsRan(BatchEvent::TestsRan {
        tree: format!("tree of {}", names.join(" ")),
        tasks,
        judge: "cargo test".into(),
        run,
        number: Some(1),
        log: None,
        took: 5,
        proved_at: None,
    })
}

fn proof() -> Message {
    Message::Proved {
        base: commit("base"),
        tip: commit("tip"),
        tree: "tree".into(),
        apart: false,
    }
}

fn land(word: &str) -> Message {
    Message::Land(LandingRequest {
        into: (word == "into").then(|| "main".to_owned()),
        despite_findings: false,
        unproved: word == "land-unproved",
        prove_again: word == "land-again",
    })
}

fn ids(text: &str) -> Vec<TaskId> {
    let ids = text.split(',').filter(|id| *id != "base");
    ids.map(TaskId::new).collect()
}

impl Story {
    #[track_caller]
    pub(super) fn play_at_the_end(&mut self, task: &str, word: &str) {
        let id = TaskId::new(task);
        let doubted = |doubt| Message::NotProved(doubt, "why".into());
        let fell_out = || (id.clone(), vec!["a.rs".to_owned()], Vec::new());
        let message = match (task, word) {
            ("", "tests") => return self.run_tests(&[], TestResult::Passed),
            ("base", "breaks") => return self.run_tests(&[], TestResult::Failed),
            (guilty, "break") => {
                let guilty: Vec<&str> = guilty.split(',').collect();
                return self.run_tests(&guilty, TestResult::Passed);
            }
            ("base", "looks-red") => match judged(Vec::new(), TestResult::Failed) {
                Message::TestsRan(event) => Message::BaseTestsRan(event),
                other => other,
            },
            (tasks, "green") => judged(ids(tasks), TestResult::Passed),
            (tasks, "red") => judged(ids(tasks), TestResult::Failed),
            (_, "fell") => Message::TestsRan(BatchEvent::NoLongerMerges {
                strand: id,
                files: vec!["a.rs".into()],
                with: Vec::new(),
            }),
            ("", "proved") => proof(),
            ("", "trouble") => doubted(UnprovedReason::Trouble),
            ("", "red-base") => doubted(UnprovedReason::BaseRed),
            ("", "all-red") => doubted(UnprovedReason::Red),
            ("", "land" | "land-unproved" | "land-again" | "into") => land(word),
            (task, "moved") => Message::BaseMoved {
                base: commit("new base"),
                tip: commit("new tip"),
                fell_out: (!task.is_empty()).then(fell_out).into_iter().collect(),
                apart: false,
            },
            ("", "pushing") => Message::Landed(BatchEvent::Pushing {
                branch: "pleach/batch-1".into(),
                commit: commit("tip"),
                because: None,
            }),
            ("", "pushed") => Message::Landed(BatchEvent::Pushed {
                branch: "pleach/batch-1".into(),
                commit: commit("tip"),
            }),
            ("", "landed") => Message::Landed(BatchEvent::Landed {
                pr_url: None,
                into: None,
            }),
            ("", "not-landed") => Message::Landed(BatchEvent::NotLanded {
                because: "no remote".into(),
                hint: None,
                no_server: false,
            }),
            (_, "resolve") => Message::Resolve {
                commit: Commit(format!("{task} resolved")),
                task: id,
                basis: commit("tip"),
                files: vec!["a.rs".into()],
            },
            other => panic!("{other:?} means nothing here"),
        };
        self.hear(message);
    }

    /// Runs the tests, one set at a time, until the search is over.
    fn run_tests(&mut self, guilty: &[&str], base: TestResult) {
        while let Proof::Searching(searching) = &self.batch.proof {
            let next = searching.search.next(1, &[]);
            let BisectStep::Run(sets) = &next else {
                self.hear(match next {
                    BisectStep::BaseRed => {
                        Message::NotProved(UnprovedReason::BaseRed, "the base is red".into())
                    }
                    _ => proof(),
                });
                return;
            };
            let tasks: Vec<TaskId> = searching
                .positions(&sets[0])
                .into_iter()
                .map(|at| self.batch.tasks[at].design.id.clone())
                .collect();
            let is_in = |id: &str| tasks.contains(&TaskId::new(id));
            let breaks = |guilty: &&str| guilty.split('+').all(is_in);
            let run = if guilty.iter().any(breaks) {
                TestResult::Failed
            } else {
                base
            };
            self.hear(judged(tasks, run));
            if self.last.is_empty() {
                return;
            }
        }
    }
}
