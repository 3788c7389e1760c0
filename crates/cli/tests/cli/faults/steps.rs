//! `pleach run`, killed at every step of every effect.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Stdio};

use pleach_engine::step::{ALL, DIE_AT, Step};
use pleach_testkit::run_to_end;

use super::ordeal::{Deed, LONG, Ordeal, Task, Variant};
use super::survived::check_survived;
use crate::Answer;

const TASKS: [Task; 8] = [
    Task::new("1.1", Deed::Commit, 0),
    Task::new("1.2", Deed::Append, 0).needs(&["1.1"]),
    Task::new("1.3", Deed::Fight, 0),
    Task::new("61", Deed::Fight, 0).section(),
    Task::new("62", Deed::FailOnce, 0).section(),
    Task::new("63", Deed::Nothing, 0).section().needs(&["62"]),
    Task::new("64", Deed::FailAlways, 0).section(),
    Task::new("65", Deed::Write, 0).section().needs(&["64"]),
];

/// How often the run dies at one step, if it comes by so often.
const DEATHS: usize = 3;

/// A run that comes by a step the `times`-th time dies there, and so do the next ones.
#[track_caller]
fn check(step: Step, times: u32, keep_failed: &'static str, merge: &'static str) {
    let variant = Variant {
        keep_failed,
        on_conflict: "skip",
        merge,
    };
    let ordeal = Ordeal::new(&TASKS, variant);
    if is_of_recovery(step) {
        assert!(dies(&ordeal, "ProcessNoted"), "{}", ordeal.story());
    }
    let point = format!("{step:?}:{times}");
    let mut deaths = 0;
    while deaths < DEATHS && dies(&ordeal, &point) {
        deaths += 1;
    }
    assert!(
        deaths > 0 || times > 1,
        "{point} is never reached{}",
        ordeal.story()
    );
    if !ordeal.is_over() {
        ordeal.end();
    }
    check_survived(&ordeal);
}

/// Early in a run and later on, side by side, because runs wait more than they work.
#[track_caller]
fn check_all(step: Step) {
    std::thread::scope(|scope| {
        let later = scope.spawn(|| check(step, 3, "true", "merge"));
        check(step, 1, "false", "merge");
        later.join().unwrap();
    });
}

#[test]
fn a_result_with_another_history_is_published_once() {
    std::thread::scope(|scope| {
        for merge in ["squash", "rebase", "octopus"] {
            for step in [Step::ResultWoven, Step::BatchPublished] {
                scope.spawn(move || check(step, 1, "false", merge));
            }
        }
    });
}

#[test]
fn of_several_runs_after_a_crash_one_goes_on_and_the_others_say_so() {
    let variant = Variant {
        keep_failed: "false",
        on_conflict: "skip",
        merge: "merge",
    };
    let ordeal = Ordeal::new(&TASKS, variant);
    assert!(dies(&ordeal, "ProcessNoted"));
    let start = |_| {
        let mut run = ordeal.run();
        run.stdout(Stdio::piped()).stderr(Stdio::piped());
        run.spawn().unwrap()
    };
    let runs: Vec<Child> = (0..3).map(start).collect();
    let mut codes = Vec::new();
    for run in runs {
        let answer = Answer::from(run.wait_with_output().unwrap());
        if answer.code == 2 {
            assert!(
                answer.err.contains("is in batch 1, which is not over"),
                "{}",
                answer.err
            );
        }
        codes.push(answer.code);
    }
    codes.sort_unstable();
    assert_eq!(codes, [1, 2, 2], "{}", ordeal.story());
    let batches = std::fs::read_dir(ordeal.state_path().join("batches")).unwrap();
    assert_eq!(
        batches.count(),
        1,
        "those who could not begin leave no folder"
    );
    check_survived(&ordeal);
}

/// Whether a run that is to die at a point does so; one that does not is over.
#[track_caller]
fn dies(ordeal: &Ordeal, point: &str) -> bool {
    if ordeal.is_over() {
        return false;
    }
    let mut run = ordeal.run();
    let status = run_to_end(run.env(DIE_AT, point), &ordeal.said(), LONG).unwrap();
    if status.signal() == Some(9) {
        return true;
    }
    assert_eq!(status.code(), Some(1), "{point}{}", ordeal.story());
    false
}

/// These are passed only after another death.
fn is_of_recovery(step: Step) -> bool {
    let place = |step| ALL.iter().position(|other| *other == step);
    place(step) >= place(Step::BatchTakenUp)
}

macro_rules! deaths {
    ($($name:ident: $step:ident,)*) => {
        mod a_run_goes_on_after_it_died_when {
            $(#[test]
            fn $name() {
                super::check_all(super::Step::$step);
            })*
        }

        #[test]
        fn every_step_is_tried() {
            assert_eq!(ALL, [$(Step::$step),*]);
        }
    };
}

deaths! {
    the_folder_of_the_batch_was_made: FolderMade,
    the_batch_was_stored: BatchStored,
    the_batch_had_begun: BatchStarted,
    a_task_had_begun: TaskStarted,
    a_worktree_was_noted: WorktreeNoted,
    a_branch_was_taken: BranchTaken,
    a_worktree_was_registered: WorktreeRegistered,
    a_worktree_was_filled: WorktreeFilled,
    a_worktree_was_made: WorktreeMade,
    a_setup_had_run: SetupRun,
    a_wrapper_was_launched: WrapperLaunched,
    a_process_was_noted: ProcessNoted,
    an_agent_had_ended: AgentEnded,
    a_commit_was_made: CommitMade,
    work_was_captured: WorkCaptured,
    work_was_kept: WorkKept,
    an_ending_was_heard: EndingHeard,
    an_ending_was_stored: EndingStored,
    a_branch_was_woven: BranchWoven,
    a_weaving_was_stored: WeavingStored,
    files_were_moved_away: FilesMovedAway,
    a_registration_was_void: RegistrationVoid,
    a_worktree_was_removed: WorktreeRemoved,
    a_plan_was_drafted: PlanDrafted,
    a_plan_was_exchanged: PlanExchanged,
    a_plan_was_marked: PlanMarked,
    all_was_over: AllOver,
    the_result_was_woven: ResultWoven,
    objects_were_copied: ObjectsCopied,
    the_batch_was_published: BatchPublished,
    a_task_was_published: TaskPublished,
    all_was_cleared: AllCleared,
    the_plan_was_settled: PlanSettled,
    the_batch_had_ended: BatchEnded,
    the_batch_was_taken_up: BatchTakenUp,
    a_resumption_was_stored: ResumptionStored,
    leftovers_were_ended: LeftoversEnded,
    the_branch_was_reset: BranchReset,
    an_attempt_was_retired: AttemptRetired,
    an_interruption_was_stored: InterruptionStored,
}
