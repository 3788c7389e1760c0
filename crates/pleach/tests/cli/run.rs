//! `pleach run`.

use pleach_testkit::TestRepo;

use crate::scene::Story;
pub(crate) use crate::scene::{Scene, make_pipe};
use crate::{Answer, pleach};

#[test]
fn independent_tasks_are_woven_into_one_branch_and_ticked() {
    let scene = Scene::new(
        "- [ ] 1.1 A\n- [ ] 1.2 B\n",
        "echo \"$PLEACH_TASK\" > \"file-$PLEACH_TASK\"",
    );
    let story = scene.story(&[]);
    story.check(0, "1.1:merged 1.2:merged");
    assert_eq!(scene.show("pleach/batch-1", "file-1.1"), "1.1");
    assert_eq!(scene.show("pleach/batch-1", "file-1.2"), "1.2");
    assert_eq!(scene.plan(), "- [x] 1.1 A\n- [x] 1.2 B\n");
    let subjects = scene.repo.git(&[
        "log",
        "--format=%s",
        "--first-parent",
        "main..pleach/batch-1",
    ]);
    let mut subjects: Vec<&str> = subjects.lines().collect();
    subjects.sort_unstable();
    assert_eq!(subjects, ["Merge task 1.1: A", "Merge task 1.2: B"]);
    assert_eq!(
        scene.branches(),
        "pleach/batch-1",
        "branches of merged tasks are not in the user's repository"
    );
}

/// Each agent opens one end of a pipe, which blocks until the other one is there too.
#[test]
fn tasks_really_run_at_the_same_time() {
    let scene = Scene::new(
        "- [ ] 1.1 A\n- [ ] 1.2 B\n",
        "case $PLEACH_TASK in 1.1) echo met > \"$GATE\";; *) cat \"$GATE\" > met;; esac",
    );
    let gate = scene.repo.beside("gate");
    make_pipe(&gate);
    let config = std::fs::read_to_string(scene.repo.path().join("pleach.toml")).unwrap();
    scene
        .repo
        .write("pleach.toml", format!("{config}env = [\"GATE\"]\n"));
    let output = crate::command(
        scene.repo.path(),
        &scene.home(),
        &["run", "--yes", "-j", "2", "--json"],
    )
    .env("GATE", &gate)
    .output()
    .unwrap();
    Story::of(&Answer::from(output)).check(0, "1.1:no_changes 1.2:merged");
    assert_eq!(scene.show("pleach/batch-1", "met"), "met");
}

#[test]
fn a_dependent_starts_from_the_work_of_what_it_needs_and_nothing_else() {
    let scene = Scene::new(
        "- [ ] 1.1 A\n- [ ] 1.2 B\n- [ ] 2.1 C (depends: 1.1)\n",
        "ls > \"saw-$PLEACH_TASK\"",
    );
    let story = scene.story(&["-j", "1"]);
    story.check(0, "1.1:merged 1.2:merged 2.1:merged");
    let saw = scene.show("pleach/batch-1", "saw-2.1");
    assert!(saw.contains("saw-1.1") && !saw.contains("saw-1.2"), "{saw}");
}

#[test]
fn a_conflict_is_left_out_kept_and_named() {
    let scene = Scene::new(
        "- [ ] 1.1 A\n- [ ] 1.2 B\n",
        "echo \"$PLEACH_TASK\" > README.md",
    );
    let answer = scene.run(&["-j", "1"]);
    assert_eq!(answer.code, 1);
    assert!(
        answer.out.contains("conflicted") && answer.out.contains("README.md with 1.1"),
        "{}",
        answer.out
    );
    assert_eq!(scene.show("pleach/batch-1", "README.md"), "1.1");
    assert_eq!(scene.show("pleach/task-1/1.2", "README.md"), "1.2");
    assert_eq!(scene.plan(), "- [x] 1.1 A\n- [ ] 1.2 B\n");
}

#[test]
fn a_failure_keeps_its_work_and_blocks_only_its_dependents() {
    let scene = Scene::new(
        "- [ ] 1.1 A\n- [ ] 1.2 B (depends: 1.1)\n- [ ] 1.3 C\n",
        "echo half > \"work-$PLEACH_TASK\"; [ \"$PLEACH_TASK\" != 1.1 ]",
    );
    let story = scene.story(&[]);
    story.check(1, "1.1:failed 1.2:blocked 1.3:merged");
    assert_eq!(scene.show("pleach/task-1/1.1", "work-1.1"), "half");
    assert_eq!(
        scene.plan(),
        "- [ ] 1.1 A\n- [ ] 1.2 B (depends: 1.1)\n- [x] 1.3 C\n"
    );
}

#[test]
fn status_lines_are_marked_and_given_back() {
    let scene = Scene::new(
        "### 1. A\n**Status**: PLANNED\n\n### 2. B\n**Status**: [RESEARCHED]\n\n### 3. C\ntext\n",
        "cp \"$PLAN\" \"seen-$PLEACH_TASK\"; [ \"$PLEACH_TASK\" != 2 ]",
    );
    let config = std::fs::read_to_string(scene.repo.path().join("pleach.toml")).unwrap();
    scene
        .repo
        .write("pleach.toml", format!("{config}env = [\"PLAN\"]\n"));
    let output = crate::command(
        scene.repo.path(),
        &scene.home(),
        &["run", "--yes", "-j", "3"],
    )
    .env("PLAN", scene.repo.path().join("TODO.md"))
    .output()
    .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        scene.plan(),
        "### 1. A\n**Status**: [COMPLETED]\n\n### 2. B\n**Status**: [RESEARCHED]\n\n### 3. C\ntext\n"
    );
}

#[test]
fn the_plan_itself_is_never_part_of_an_agents_work() {
    let scene = Scene::new(
        "- [ ] 1.1 A\n",
        "echo '- [x] hacked' > TODO.md; echo done > result",
    );
    let answer = scene.run(&[]);
    assert!(
        answer.out.contains("changes to TODO.md are left out"),
        "{}",
        answer.out
    );
    assert_eq!(answer.code, 0);
    assert_eq!(scene.show("pleach/batch-1", "TODO.md"), "- [ ] 1.1 A");
    assert_eq!(scene.plan(), "- [x] 1.1 A\n");
}

#[test]
fn the_users_checkout_is_untouched() {
    let scene = Scene::new(
        "- [ ] unused\n",
        "echo x > new; rm README.md; git commit -qam mine; git checkout -q -b other-$PLEACH_TASK || true",
    );
    let plan = scene.repo.beside("plan.md");
    std::fs::write(&plan, "- [ ] 1.1 A\n- [ ] 1.2 B\n").unwrap();
    scene.repo.write("README.md", "edited and not committed\n");
    scene.repo.write("untracked", "mine\n");
    let before = scene.repo.fingerprint();
    let answer = scene.run(&["--plan", plan.to_str().unwrap()]);
    assert_eq!(answer.code, 0, "{}{}", answer.out, answer.err);
    assert_eq!(scene.repo.fingerprint(), before);
    scene.check_no_worktree_is_left();
}

#[test]
fn an_agent_sees_its_task_and_none_of_our_secrets() {
    let scene = Scene::new(
        "- [ ] 1.1 Say hello\n  in a `hello.md`\n",
        "env > seen; cat > prompt; git log --format=%an -1 > author",
    );
    let output = crate::command(scene.repo.path(), &scene.home(), &["run", "--yes"])
        .env("SECRET_TOKEN", "hunter2")
        .output()
        .unwrap();
    assert!(output.status.success());
    let seen = scene.show("pleach/batch-1", "seen");
    assert!(
        seen.contains("PLEACH_TASK=1.1") && !seen.contains("hunter2"),
        "{seen}"
    );
    let prompt = scene.show("pleach/batch-1", "prompt");
    assert!(
        prompt.contains("# Task 1.1: Say hello") && prompt.contains("in a `hello.md`"),
        "{prompt}"
    );
}

#[test]
fn what_is_not_fit_is_told_before_anything_starts() {
    let scene = Scene::new("- [ ] 1.1 A\n", "echo x > x");
    let without_consent = pleach(scene.repo.path(), &scene.home(), &["run"]);
    assert!(without_consent.bad(3).contains("pass --yes"));
    assert!(
        scene
            .run(&["--agent", "shel"])
            .bad(2)
            .contains("did you mean \"shell\"?")
    );
    assert!(scene.run(&["--base", "nowhere"]).bad(2).contains("nowhere"));
    scene.repo.write("pleach.toml", "");
    assert!(scene.run(&[]).bad(3).contains("no agent is configured"));
    assert_eq!(scene.plan(), "- [ ] 1.1 A\n");
    assert_eq!(scene.repo.git(&["branch", "--list", "pleach/*"]), "");
}

#[test]
fn folders_that_are_no_fit_repository_are_refused_with_the_reason() {
    let place = crate::Place::new();
    place.write("TODO.md", "- [ ] a\n");
    place.write("pleach.toml", "[agents.a]\ncommand = [\"true\"]\n");
    let error = place.pleach(&["run", "--yes"]).bad(3);
    assert!(
        error.contains("is not a git repository") && error.contains("parallel mode"),
        "{error}"
    );
    let unborn = TestRepo::empty();
    unborn.write("TODO.md", "- [ ] a\n");
    unborn.write("pleach.toml", "[agents.a]\ncommand = [\"true\"]\n");
    let error = pleach(unborn.path(), &unborn.beside("home"), &["run", "--yes"]).bad(3);
    assert!(error.contains("no commit"), "{error}");
}

#[test]
fn an_agent_that_is_not_installed_is_told_before_anything_starts() {
    let scene = Scene::new("- [ ] 1.1 A\n", "unused");
    scene.repo.write(
        "pleach.toml",
        "[agents.ghost]\ncommand = [\"ghost-agent\"]\n",
    );
    let error = scene.run(&[]).bad(3);
    assert!(error.contains("\"ghost-agent\" not found"), "{error}");
}

#[test]
fn a_branch_in_the_way_is_told_before_anything_starts() {
    let scene = Scene::new("- [ ] 1.1 A\n", "echo x > x");
    scene.repo.git(&["branch", "pleach"]);
    let error = scene.run(&[]).bad(3);
    assert!(error.contains("git branch -m pleach pleach-old"), "{error}");
    assert_eq!(scene.plan(), "- [ ] 1.1 A\n");
}

#[test]
fn work_that_cannot_be_brought_home_is_named_and_the_rest_is() {
    let scene = Scene::new(
        "- [ ] 1.1 A\n- [ ] 1.2 B\n",
        "echo x > $PLEACH_TASK; [ $PLEACH_TASK = 1.1 ]",
    );
    scene.repo.git(&["branch", "pleach/task-1"]);
    let answer = scene.run(&["-j", "1"]);
    assert_eq!(answer.code, 1);
    assert!(
        answer
            .out
            .contains("could not create the branch pleach/task-1/1.2 in your repository"),
        "{}",
        answer.out
    );
    assert!(
        answer.out.contains("1 task merged into pleach/batch-1"),
        "{}",
        answer.out
    );
    assert_eq!(scene.show("pleach/batch-1", "1.1"), "x");
}

#[test]
fn a_plan_of_another_repository_hides_no_file_of_this_one() {
    let scene = Scene::new("- [ ] unused\n", "echo changed > TODO.md");
    let other = TestRepo::new();
    other.write("TODO.md", "- [ ] 1.1 A\n");
    let plan = other.path().join("TODO.md");
    scene.run(&["--plan", plan.to_str().unwrap()]).good();
    assert_eq!(scene.show("pleach/batch-1", "TODO.md"), "changed");
    assert_eq!(std::fs::read_to_string(plan).unwrap(), "- [x] 1.1 A\n");
}

#[test]
fn a_dry_run_does_nothing() {
    let scene = Scene::new("- [ ] 1.1 A\n", "echo x > x");
    let answer = pleach(scene.repo.path(), &scene.home(), &["run", "--dry-run"]);
    let told = answer.good();
    assert!(told.contains("1 task from TODO.md"), "{told}");
    assert_eq!(scene.repo.git(&["branch", "--list", "pleach/*"]), "");
    assert!(!scene.state().exists(), "nothing is kept of it either");
}

/// The second agent is the person: it puts back the plan as it was, as an editor does that had it open.
#[test]
fn a_mark_that_a_person_saved_over_is_made_again() {
    let scene = Scene::new(
        "- [ ] 1.1 A\n- [ ] 1.2 B (depends: 1.1)\n",
        "echo \"$PLEACH_TASK\" > \"file-$PLEACH_TASK\"; [ $PLEACH_TASK = 1.1 ] && exit 0
for i in $(seq 1000); do grep -q 'x. 1.1' \"$PLAN\" && break; sleep 0.01; done
cp TODO.md \"$PLAN.old\" && mv \"$PLAN.old\" \"$PLAN\"",
    );
    let config = std::fs::read_to_string(scene.repo.path().join("pleach.toml")).unwrap();
    scene
        .repo
        .write("pleach.toml", format!("{config}env = [\"PLAN\"]\n"));
    let plan = scene.repo.path().join("TODO.md");
    let mut run = crate::command(scene.repo.path(), &scene.home(), &["run", "--yes"]);
    let answer = Answer::from(run.env("PLAN", plan).output().unwrap());
    answer.good();
    assert_eq!(scene.plan(), "- [x] 1.1 A\n- [x] 1.2 B (depends: 1.1)\n");
}
