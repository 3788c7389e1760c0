//! What can happen to a batch as a whole.

use serde::{Deserialize, Serialize};

use super::{MergeStatus, PredictedConflict, Rollback, UnprovedReason};
use crate::bisect::TestResult;
use crate::id::TaskId;
use crate::work::Commit;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum BatchEvent {
    Created,
    /// Other numbers of its tasks are over or under way than before.
    Progressed {
        over: usize,
        total: usize,
        running: usize,
    },
    Started,
    /// The process that ran it died; another one goes on.
    Resumed,
    StageStarted {
        /// Its place, counted from 0.
        stage: usize,
    },
    /// All tasks of a stage or wave are over.
    StageEnded {
        /// Its place, counted from 0.
        stage: usize,
        merge_status: MergeStatus,
        /// Whether the next one may start.
        success: bool,
    },
    /// Running several at once did not work out; what is left runs one at a time.
    FellBack {
        reason: String,
        /// The stage that it concerns, or the whole batch.
        stage: Option<usize>,
    },
    /// Nothing new starts for now.
    #[serde(rename = "held")]
    Paused {
        because: String,
    },
    #[serde(rename = "went_on")]
    Unpaused,
    SlotsChanged {
        slots: usize,
        /// How many it may become again.
        most: usize,
        because: String,
    },
    /// Other conflicts are coming than before: tasks that are under way would not merge as they stand.
    #[serde(rename = "foreseen")]
    ConflictsPredicted {
        /// All of them.
        pairs: Vec<PredictedConflict>,
    },
    CancelRequested {
        rollback: Rollback,
    },
    /// A person wants nothing new to start; what runs is finished, and what merged lands.
    StopRequested,
    /// A rule says that nothing more shall start.
    GaveUp {
        because: String,
    },
    /// The last task ended; the woven result is made and brought to the user.
    Merging,
    Validating {
        /// The stage that ends with it, or the whole batch.
        stage: Option<usize>,
    },
    /// The tests ran once, or are known to have run before.
    #[serde(rename = "judged")]
    TestsRan {
        /// The tasks that were woven then; none for the base.
        tasks: Vec<TaskId>,
        tree: String,
        /// The command and what it depends on, as a short name.
        judge: String,
        run: TestResult,
        /// The number of the run within the batch, in the order in which they ended; none where the verdict was
        /// remembered.
        number: Option<u32>,
        /// The number that its log has, in the order in which runs began, where that is another one.
        #[serde(default)]
        log: Option<u32>,
        /// How long it took, in milliseconds.
        took: u64,
        /// When the tests ran whose verdict was remembered, in milliseconds since 1970.
        #[serde(default)]
        proved_at: Option<u64>,
    },
    /// A woven branch does not merge any more without what was left out.
    #[serde(rename = "fell_out")]
    NoLongerMerges {
        strand: TaskId,
        files: Vec<String>,
        /// The woven tasks that touched them.
        with: Vec<TaskId>,
    },
    /// What is woven was woven once more, onto this base.
    Rewoven {
        base: Commit,
        tip: Commit,
        /// Whether it no longer continues what is on the server.
        #[serde(default)]
        apart: bool,
    },
    Proved {
        tree: String,
    },
    NotProved {
        doubt: UnprovedReason,
        because: String,
    },
    /// The batch branch is in the user's repository.
    Published {
        branch: String,
        tip: Commit,
    },
    /// The batch branch was taken from the user's repository.
    Unpublished,
    /// A person wants the result of a batch that is over landed.
    LandingAsked {
        /// The local branch that shall get it, instead of the server.
        into: Option<String>,
        /// Whether it is pushed although something in it should not leave the machine.
        #[serde(default)]
        despite_findings: bool,
        #[serde(default)]
        unproved: bool,
        #[serde(default)]
        prove_again: bool,
    },
    Landing {
        /// The local branch that shall get it; none where it is pushed.
        #[serde(default)]
        into: Option<String>,
    },
    /// The result is about to be pushed; whoever finds it on the server knows whose it is.
    Pushing {
        branch: String,
        commit: Commit,
        /// Why the branch has another name than usual.
        #[serde(default)]
        because: Option<String>,
    },
    Pushed {
        branch: String,
        commit: Commit,
    },
    Landed {
        pr_url: Option<String>,
        /// The local branch that got it.
        into: Option<String>,
    },
    NotLanded {
        because: String,
        hint: Option<String>,
        /// Whether there is no server to land on, so that nothing failed.
        #[serde(default)]
        no_server: bool,
    },
    /// Everything it had to do is over, and something was merged or nothing needed to be.
    Completed {
        #[serde(default)]
        pr_url: Option<String>,
    },
    /// It is over, and nothing was merged or a rule was hit.
    Failed {
        error: String,
    },
    Cancelled,
    /// A person wants some of its tasks tried again.
    Reopened,
}

impl BatchEvent {
    pub fn participle(&self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Progressed { .. } => "progressed",
            Self::Started => "started",
            Self::Resumed => "resumed",
            Self::StageStarted { .. } => "stage started",
            Self::StageEnded { .. } => "stage ended",
            Self::FellBack { .. } => "fallen back",
            Self::Paused { .. } => "held",
            Self::Unpaused => "let go on",
            Self::SlotsChanged { .. } => "resized",
            Self::ConflictsPredicted { .. } => "foreseen",
            Self::CancelRequested { .. } => "asked to stop",
            Self::StopRequested => "asked to finish",
            Self::GaveUp { .. } => "given up",
            Self::Merging => "merging",
            Self::Validating { .. } => "validating",
            Self::TestsRan { .. } => "judged",
            Self::NoLongerMerges { .. } => "fallen apart",
            Self::Rewoven { .. } => "rewoven",
            Self::Proved { .. } => "proved",
            Self::NotProved { .. } => "not proved",
            Self::Published { .. } => "published",
            Self::Unpublished => "unpublished",
            Self::LandingAsked { .. } => "asked to land",
            Self::Landing { .. } => "landing",
            Self::Pushing { .. } => "pushing",
            Self::Pushed { .. } => "pushed",
            Self::Landed { .. } => "landed",
            Self::NotLanded { .. } => "not landed",
            Self::Completed { .. } => "completed",
            Self::Failed { .. } => "failed",
            Self::Cancelled => "cancelled",
            Self::Reopened => "reopened",
        }
    }

    fn one_of_each_at_the_end() -> Vec<Self> {
        vec![
            Self::Validating { stage: None },
            Self::TestsRan {
                tasks: Vec::new(),
                tree: "t1".into(),
                judge: "j1".into(),
                run: TestResult::Passed,
                number: Some(1),
                log: Some(2),
                took: 5_000,
                proved_at: None,
            },
            Self::NoLongerMerges {
                strand: TaskId::new("1"),
                files: vec!["a".into()],
                with: Vec::new(),
            },
            Self::Rewoven {
                base: Commit("c1".into()),
                tip: Commit("c3".into()),
                apart: false,
            },
            Self::Proved { tree: "t1".into() },
            Self::NotProved {
                doubt: UnprovedReason::BaseRed,
                because: "the base is red".into(),
            },
            Self::Published {
                branch: "pleach/batch-1".into(),
                tip: Commit("c3".into()),
            },
            Self::Unpublished,
            Self::LandingAsked {
                into: None,
                despite_findings: false,
                unproved: false,
                prove_again: false,
            },
            Self::Landing { into: None },
            Self::Pushing {
                branch: "pleach/batch-1".into(),
                commit: Commit("c3".into()),
                because: None,
            },
            Self::Pushed {
                branch: "pleach/batch-1".into(),
                commit: Commit("c3".into()),
            },
            Self::Landed {
                pr_url: None,
                into: None,
            },
            Self::NotLanded {
                because: "no remote".into(),
                hint: None,
                no_server: true,
            },
        ]
    }

    pub fn one_of_each() -> Vec<Self> {
        let mut events = vec![
            Self::Created,
            Self::Progressed {
                over: 1,
                total: 3,
                running: 2,
            },
            Self::Started,
            Self::Resumed,
            Self::StageStarted { stage: 0 },
            Self::StageEnded {
                stage: 0,
                merge_status: MergeStatus::Success,
                success: true,
            },
            Self::FellBack {
                reason: "no room".into(),
                stage: None,
            },
            Self::Paused {
                because: "the disk is nearly full".into(),
            },
            Self::Unpaused,
            Self::SlotsChanged {
                slots: 1,
                most: 3,
                because: "overload".into(),
            },
            Self::ConflictsPredicted {
                pairs: vec![PredictedConflict {
                    a: TaskId::new("1"),
                    b: TaskId::new("2"),
                    files: vec!["a".into()],
                }],
            },
            Self::CancelRequested {
                rollback: Rollback::Keep,
            },
            Self::StopRequested,
            Self::GaveUp {
                because: "1 failed".into(),
            },
            Self::Merging,
            Self::Completed { pr_url: None },
            Self::Failed {
                error: "nothing was merged".into(),
            },
            Self::Cancelled,
            Self::Reopened,
        ];
        events.extend(Self::one_of_each_at_the_end());
        events
    }
}
