//! Several runs at once: of one repository, of two, in the background.

use std::time::{Duration, Instant};

use crate::command;
use crate::held::Held;
use crate::scene::{Gate, Running, Scene, WAIT};

/// A run in a repository with the state folder of another scene.
fn start_with_home_of(scene: &Scene, host: &Scene, words: &[&str]) -> Running {
    let words: Vec<&str> = ["run", "--yes", "--json"]
        .iter()
        .chain(words)
        .copied()
        .collect();
    Running::start(&mut command(scene.repo.path(), &host.home(), &words))
}

#[test]
fn the_limit_over_all_batches_holds_over_two_repositories() {
    let first = Scene::of("1, 2", "parallel_limit = 1", WAIT);
    let second = Scene::of("3, 4", "parallel_limit = 1", "");
    let mut gate = Gate::at(&first);
    let beside = first.repo.beside("").display().to_string();
    let wait = WAIT.replace("BESIDE", &beside);
    let settings = "plan = \"plan.json\"\nparallel_limit = 1";
    let open = format!("{settings}\nsandbox_write = [\"{beside}\"]");
    second.configure(&open, &wait);
    let mut runs = [
        first.start(&["-j", "2"]),
        start_with_home_of(&second, &first, &["-j", "2"]),
    ];
    for run in &mut runs {
        // Either it has the slot, or it says that it waits for one.
        run.wait_for("waiting for a slot");
    }
    let mut order = Vec::new();
    for _ in 0..4 {
        order.push(gate.wait_for(1));
        assert!(gate.is_empty(), "never two at once: {order:?}");
        gate.let_go(1);
    }
    order.sort();
    assert_eq!(order.join(" "), "1 2 3 4");
    for run in runs {
        assert_eq!(run.answer().code, 0);
    }
}

#[test]
fn several_batches_of_one_repository_run_at_once_and_each_has_its_branch() {
    let shell = format!("{WAIT}; echo x > file-$PLEACH_TASK");
    let scene = Scene::new("- [ ] 1.1 A\n- [ ] 1.2 B\n- [ ] 1.3 C\n", &shell);
    let mut gate = Gate::at(&scene);
    let runs = [scene.start(&["1.1"]), scene.start(&["1.2", "1.3"])];
    assert_eq!(gate.wait_for(3), "1.1 1.2 1.3");
    gate.let_go(3);
    let stories = runs.map(Running::story);
    stories[0].check(0, "1.1:merged");
    stories[1].check(0, "1.2:merged 1.3:merged");
    let branch_of = |task: &str| {
        let branches = ["pleach/batch-1", "pleach/batch-2"];
        let name = format!("file-{task}");
        let mut found = branches
            .into_iter()
            .filter(|branch| scene.new_files(branch).contains(&name));
        let branch = found.next().unwrap();
        assert_eq!(found.next(), None, "{task} is in one of them");
        branch
    };
    assert_ne!(branch_of("1.1"), branch_of("1.2"));
    assert_eq!(branch_of("1.2"), branch_of("1.3"));
    assert_eq!(scene.plan(), "- [x] 1.1 A\n- [x] 1.2 B\n- [x] 1.3 C\n");
}

#[test]
fn two_repositories_run_at_once_with_one_state_folder() {
    let shell = format!("{WAIT}; echo x > file-$PLEACH_TASK");
    let first = Scene::of("1", "", &shell);
    let second = Scene::of("1", "", &shell);
    let (mut one, mut two) = (Gate::at(&first), Gate::at(&second));
    let runs = [first.start(&[]), start_with_home_of(&second, &first, &[])];
    assert_eq!((one.wait_for(1), two.wait_for(1)), ("1".into(), "1".into()));
    one.let_go(1);
    two.let_go(1);
    for run in runs {
        run.story().check(0, "1:merged");
    }
    let both = [first.branches(), second.branches()];
    assert_eq!(both, ["pleach/batch-1"; 2], "each counts its own");
}

#[test]
fn a_task_of_a_running_batch_is_refused_for_a_second_and_the_others_are_not() {
    let shell = format!("[ $PLEACH_TASK = 2 ] || {{ {WAIT}; }}; echo x > file-$PLEACH_TASK");
    let scene = Scene::of("1, 2", "", &shell);
    let mut gate = Gate::at(&scene);
    let run = scene.start(&["1"]);
    gate.wait_for(1);
    let error = scene.run(&["1"]).bad(2);
    assert!(
        error.contains("task 1 is in batch 1, which is still running") && error.contains("hint: "),
        "{error}"
    );
    scene.run(&["1", "2"]).bad(2);
    scene.story(&["2"]).check(0, "2:merged");
    gate.let_go(1);
    run.story().check(0, "1:merged");
    // It is free again, and nothing of the refused ones is left to be taken up.
    let again = scene.start(&["1"]);
    gate.wait_for(1);
    gate.let_go(1);
    again.story().check(0, "1:merged");
}

#[test]
fn tasks_of_one_plan_run_although_an_interrupted_batch_of_another_has_the_same_ids() {
    let held = Held::new("- [ ] 1.1 A\n");
    held.scene.repo.write("other.md", "- [ ] 1.1 B\n");
    let run = held.run(&[]);
    run.kill_at(&held.gate("1.1"));
    let other = held.run(&["--plan", "other.md"]);
    drop(held.gate("1.1"));
    assert_eq!(other.end().code, 0);
    let resumed = held.run(&["--resume"]);
    drop(held.gate("1.1"));
    assert_eq!(resumed.end().code, 0);
    assert_eq!(held.scene.plan(), "- [x] 1.1 A\n");
    let plan = held.scene.repo.path().join("other.md");
    assert_eq!(std::fs::read_to_string(plan).unwrap(), "- [x] 1.1 B\n");
}

#[test]
fn a_batch_that_can_not_be_taken_up_holds_up_no_other_tasks() {
    let held = Held::new("- [ ] 1.1 A\n- [ ] 1.2 B\n");
    let repo = &held.scene.repo;
    let tree = repo.beside("tree");
    let tree_name = tree.to_str().unwrap();
    repo.git(&["worktree", "add", "--quiet", tree_name]);
    let mut run = command(&tree, &held.scene.home(), &["run", "--yes", "1.1"]);
    let mut run = run.stdout(std::process::Stdio::null()).spawn().unwrap();
    let gate = held.gate("1.1");
    run.kill().unwrap();
    run.wait().unwrap();
    drop(gate);
    repo.git(&["worktree", "remove", "--force", tree_name]);
    let other = held.run(&["1.2"]);
    drop(held.gate("1.2"));
    let answer = other.end();
    assert_eq!(answer.code, 0, "{}", answer.err);
    assert!(
        answer
            .err
            .contains("batch 1 is interrupted; `pleach resume 1`"),
        "{}",
        answer.err
    );
}

#[test]
fn a_detached_run_answers_with_its_number_and_goes_on() {
    let shell = format!("{WAIT}; echo x > file-$PLEACH_TASK");
    let scene = Scene::new("- [ ] 1.1 A\n", &shell);
    let mut gate = Gate::at(&scene);
    let answer = scene.run(&["--detach"]);
    assert!(
        answer.out.starts_with("batch 1 is running"),
        "{}",
        answer.out
    );
    assert_eq!((answer.code, scene.branches().as_str()), (0, ""));
    gate.wait_for(1);
    gate.let_go(1);
    wait_until(|| scene.branches() == "pleach/batch-1");
    wait_until(|| scene.plan() == "- [x] 1.1 A\n");
    wait_until(|| {
        scene
            .run(&["--resume", "1"])
            .err
            .contains("batch 1 is already finished")
    });
    scene.check_no_worktree_is_left();
}

#[test]
fn a_detached_run_tells_programs_its_number() {
    let scene = Scene::of("1", "", "echo x > x");
    let answer = scene.run(&["--detach", "--json"]);
    assert_eq!(answer.json()["batchId"], 1, "{}", answer.err);
    wait_until(|| scene.branches() == "pleach/batch-1");
}

#[test]
fn a_detached_run_that_can_not_begin_says_why() {
    let scene = Scene::of("1", "", "true");
    let error = scene.run(&["--detach", "--base", "nowhere"]).bad(2);
    assert!(error.contains("nowhere"), "{error}");
}

#[track_caller]
fn wait_until(is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !is_so() {
        assert!(Instant::now() < deadline, "it does not come to that");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn nothing_to_resume_is_told_with_a_hint() {
    let scene = Scene::of("1", "", "echo x > x");
    let error = scene.run(&["--resume"]).bad(2);
    assert!(
        error.contains("no interrupted batch here") && error.contains("hint: "),
        "{error}"
    );
    scene.story(&[]).check(0, "1:merged");
    let error = scene.run(&["--resume", "1"]).bad(2);
    assert!(
        error.contains("batch 1 is already finished") && error.contains("hint: "),
        "{error}"
    );
    let error = scene.run(&["--resume", "7"]).bad(2);
    assert!(
        error.contains("batch 7 not found") && error.contains("hint: "),
        "{error}"
    );
}
