//! Points at which a run can be made to die, so that every one of them can be tried.
//!
//! `PLEACH_DIE_AT` names the point, and may say how often it is passed before: `WorkKept:3` dies there at the third
//! time. Without it nothing happens here.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Signal, getpid, kill_process};

pub const DIE_AT: &str = "PLEACH_DIE_AT";

macro_rules! steps {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// A point between two effects.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum CrashPoint {
            $($(#[$doc])* $name,)*
        }

        /// Every point, in the order in which a run comes by.
        pub const ALL: &[CrashPoint] = &[$(CrashPoint::$name,)*];
    };
}

steps! {
    /// A batch has a number and a folder, and is not stored.
    FolderMade,
    /// It is stored and has not begun.
    BatchStored,
    BatchStarted,
    /// A task is stored as started and has no worktree.
    TaskStarted,
    /// It is noted that its worktree is being made.
    WorktreeNoted,
    /// Its branch is taken, and nothing is registered.
    BranchTaken,
    /// Its worktree is registered and empty.
    WorktreeRegistered,
    /// Its files are there, and it is not noted that they are.
    WorktreeFilled,
    WorktreeMade,
    SetupRun,
    /// Its wrapper waits, unknown to the database.
    WrapperLaunched,
    ProcessNoted,
    /// The agent ended; its result record is written.
    AgentEnded,
    /// Its work is a commit that no branch leads to.
    CommitMade,
    /// Its work is a commit on the task branch.
    WorkCaptured,
    WorkKept,
    /// The loop heard of it, and nothing is stored.
    EndingHeard,
    EndingStored,
    /// The batch branch moved, and nothing is stored.
    BranchWoven,
    WeavingStored,
    /// The files of a worktree are out of sight, and it is registered.
    FilesMovedAway,
    /// The registration is void, and it is noted that the worktree goes.
    RegistrationVoid,
    /// The worktree of a woven task is gone.
    WorktreeRemoved,
    /// The files of a worktree wait for another task, and it is registered.
    FilesSetAside,
    /// Nothing of the last task is left among them.
    SpareTidied,
    /// They are those that the next task begins with.
    SpareFilled,
    /// They are where the next task has its folder, which is not registered.
    SpareMoved,
    /// A new text of the plan lies beside it.
    PlanDrafted,
    /// The plan is the new text, and the old one lies beside it.
    PlanExchanged,
    PlanMarked,
    /// All tasks are over, and that is stored.
    AllOver,
    TestTreeMade,
    /// The tests have run and their worktree is gone, and nothing is stored.
    TestsRun,
    /// The result is woven in the wanted way.
    ResultWoven,
    /// The commits of the result are in the user's repository, and no branch.
    ObjectsCopied,
    /// The batch branch is in the user's repository.
    BatchPublished,
    /// A branch that was left out is in the user's repository.
    TaskPublished,
    /// The base had moved, everything is woven onto it, and nothing is stored.
    BaseFollowed,
    /// What a cluster is to do is noted, and nothing is written.
    SendingNoted,
    /// Its orders are on the share, and the cluster knows nothing of them.
    OrdersWritten,
    /// The cluster has it.
    SubmissionSent,
    /// A node has taken what it is to do, and has not heard the secrets.
    ClaimMade,
    /// It has heard them, and is about to become the program that has them.
    SecretsHeard,
    /// It has said that it is at work, and has done nothing.
    NodeRunBegan,
    /// What it made is a bundle, and nothing says so.
    WorkBundled,
    /// Its result is there, and nothing says so.
    ResultWritten,
    /// A node has heard the secrets, and its owner has not heard that it has.
    SecretsSaid,
    /// It is stored that a node has begun, and nobody was told.
    PlaceStored,
    /// What a node made is in the store, and the loop has not heard of it.
    WorkFetched,
    /// What was sent is gone, and the loop has not heard of it.
    UnitGivenUp,
    /// It is stored what came of something that was sent, and its folder is still there.
    PlaceCleared,
    /// It is stored that the result is about to be pushed, and nothing is.
    PushMeant,
    /// The result is on the server, and nothing is stored.
    ResultPushed,
    /// That is stored, and there is no pull request.
    PushStored,
    /// There is one, and nothing is stored.
    PullRequestOpened,
    /// A local branch got the result, and nothing is stored.
    BranchForwarded,
    /// What was published is stored, and everything that could go is gone.
    AllCleared,
    /// The plan is as it stays.
    PlanSettled,
    BatchEnded,
    /// An interrupted batch was taken up, and nothing of it was looked at.
    BatchTakenUp,
    ResumptionStored,
    /// What the dead process left running has ended.
    LeftoversEnded,
    /// The batch branch is where the database says.
    BranchReset,
    /// The last state of an interrupted attempt is kept, and its worktree gone.
    AttemptRetired,
    InterruptionStored,
}

/// Comes by a point, and dies there if that is wanted.
pub fn crash_point(step: CrashPoint) {
    static WANTED: OnceLock<Option<(String, u32)>> = OnceLock::new();
    static TIMES: AtomicU32 = AtomicU32::new(0);
    let wanted = WANTED.get_or_init(|| {
        let text = std::env::var(DIE_AT).ok()?;
        let (name, times) = text.split_once(':').unwrap_or((&text, "1"));
        Some((name.to_owned(), times.parse().ok()?))
    });
    if let Some((name, times)) = wanted
        && *name == format!("{step:?}")
        && TIMES.fetch_add(1, Ordering::SeqCst) + 1 == *times
    {
        // As by somebody else: nothing is flushed, dropped or told.
        let _ = kill_process(getpid(), Signal::KILL);
        // The signal may take a moment to reach a thread that runs.
        loop {
            std::thread::park();
        }
    }
}
