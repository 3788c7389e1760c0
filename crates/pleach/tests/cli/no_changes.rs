//! Agents that change nothing: only a reason makes that a task done.

use crate::scene::Scene;

const PLAN: &str = "- [ ] 1.1 Add a login\n- [ ] 1.2 Use it (depends: 1.1)\n";

/// Nobody says what an agent that changes nothing has done.
const RULE: &str = "retries = 2\nretry_pause = \"1ms\"\nno_changes = \"retry\"";

#[test]
fn an_apology_is_no_work_and_ticks_nothing() {
    let shell = "echo asked >> BESIDE/asked; echo I am sorry, please log in again.";
    let scene = Scene::with(RULE, PLAN, shell);
    let story = scene.story(&[]);
    story.check(1, "1.1:failed 1.2:blocked");
    let error = story.error_of("1.1");
    assert!(
        error.contains("changed nothing and gave no reason"),
        "{error}"
    );
    assert_eq!(
        scene.trace("asked"),
        "asked asked",
        "once more, and no more"
    );
    assert_eq!(scene.plan(), PLAN);
}

#[test]
fn a_reason_at_the_end_counts_and_is_shown() {
    let shell = "echo looking; echo 'NO CHANGES NEEDED: main has it since 2024'";
    let scene = Scene::with(RULE, "- [ ] 1.1 Add a login\n", shell);
    let shown = scene.run(&[]);
    assert_eq!(shown.code, 0, "{}", shown.err);
    assert!(
        shown.out.contains("main has it since 2024"),
        "{}",
        shown.out
    );
    assert_eq!(scene.plan(), "- [x] 1.1 Add a login\n");
}

#[test]
fn an_agent_that_is_asked_finds_its_worktree_and_the_question() {
    let shell = "prompt=$(cat); echo x > ignored.log; \
                 case $prompt in *'without changing any file'*) test -n \"$PLEACH_CONTINUES\" && echo login > login.txt;; esac";
    let scene = Scene::with(RULE, "- [ ] 1.1 Add a login\n", shell);
    scene.repo.write(".gitignore", "ignored.log\n");
    scene.repo.commit("ignore logs");
    let story = scene.story(&[]);
    story.check(0, "1.1:merged");
    assert_eq!(scene.new_files("pleach/batch-1"), "login.txt");
}
