//! `pleach run`, killed at every step of every effect.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Stdio};
use std::thread::Builder;

use pleach_system::crash_point::{ALL, CrashPoint, DIE_AT};
use pleach_testkit::{gate_or_night, run_to_end};

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

/// A run that comes by a step the `times`-th time dies there, and so do the next ones.
#[track_caller]
fn check(step: CrashPoint, times: u32, keep_failed: &'static str, merge: &'static str) {
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
    // As often as it comes by; in the gate, once.
    while deaths < gate_or_night(1, 3) && dies(&ordeal, &point) {
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

/// All at once, because runs wait more than they work: for early times, and at night for later ones, if there are any.
fn check_all(steps: &[CrashPoint]) {
    std::thread::scope(|scope| {
        for step in steps {
            let name = |times: u32| Builder::new().name(format!("{step:?}:{times}"));
            let early = name(1).spawn_scoped(scope, || check(*step, 1, "false", "merge"));
            early.unwrap();
            if gate_or_night(false, true) && !is_passed_once(*step) {
                let later = name(3).spawn_scoped(scope, || check(*step, 3, "true", "merge"));
                later.unwrap();
            }
        }
    });
}

#[test]
fn a_result_with_another_history_is_published_once() {
    std::thread::scope(|scope| {
        for merge in ["squash", "rebase", "octopus"] {
            for step in [CrashPoint::ResultWoven, CrashPoint::BatchPublished] {
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
            let told = [
                "is running in another process",
                "no interrupted batch here",
                "batch 1 is already finished",
            ];
            let is_told = told.iter().any(|told| answer.err.contains(told));
            assert!(is_told, "{}", answer.err);
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
fn is_of_recovery(step: CrashPoint) -> bool {
    let place = |step| ALL.iter().position(|other| *other == step);
    place(step) >= place(CrashPoint::BatchTakenUp)
}

/// A run does not come by again.
fn is_passed_once(step: CrashPoint) -> bool {
    use CrashPoint as S;
    let begins = matches!(step, S::FolderMade | S::BatchStored | S::BatchStarted);
    let resumes = matches!(
        step,
        S::BatchTakenUp | S::ResumptionStored | S::LeftoversEnded | S::BranchReset
    );
    let ends = matches!(
        step,
        S::AllOver
            | S::TestTreeMade
            | S::TestsRun
            | S::ResultWoven
            | S::BatchPublished
            | S::AllCleared
            | S::PlanSettled
            | S::BatchEnded
    );
    begins || resumes || ends
}

macro_rules! deaths {
    ($($name:ident: $($step:ident)*,)*) => {
        mod a_run_goes_on_after_it_died_when {
            use super::CrashPoint;

            $(#[test]
            fn $name() {
                super::check_all(&[$(CrashPoint::$step),*]);
            })*
        }

        #[test]
        fn every_step_is_tried() {
            let elsewhere = [
                &crate::landing::STEPS[..],
                &crate::recycling::STEPS[..],
                &crate::cluster::steps()[..],
            ]
            .concat();
            let here = ALL.iter().filter(|step| !elsewhere.contains(step));
            assert_eq!(here.copied().collect::<Vec<_>>(), [$($(CrashPoint::$step),*),*]);
        }
    };
}

deaths! {
    it_had_hardly_begun: FolderMade BatchStored BatchStarted TaskStarted,
    a_worktree_was_being_made: WorktreeNoted BranchTaken WorktreeRegistered WorktreeFilled WorktreeMade,
    an_agent_was_being_run: SetupRun WrapperLaunched ProcessNoted AgentEnded,
    work_was_being_taken: CommitMade WorkCaptured WorkKept EndingHeard EndingStored,
    a_branch_was_being_woven: BranchWoven WeavingStored,
    a_worktree_was_being_removed: FilesMovedAway RegistrationVoid WorktreeRemoved,
    the_plan_was_being_marked: PlanDrafted PlanExchanged PlanMarked,
    the_result_was_being_proved: AllOver TestTreeMade TestsRun,
    the_result_was_being_made: ResultWoven ObjectsCopied BatchPublished TaskPublished,
    it_was_about_to_end: AllCleared PlanSettled BatchEnded,
    it_was_being_taken_up: BatchTakenUp ResumptionStored LeftoversEnded BranchReset,
    what_was_interrupted_was_being_kept: AttemptRetired InterruptionStored,
}
