//! `pleach logs` and `pleach diff`.

use crate::command;
use crate::held::Held;

#[test]
fn a_pipe_gets_every_byte_and_a_terminal_only_harmless_ones() {
    let held = Held::with(
        "- [ ] 1.1 A\n",
        "",
        r"printf '\033[31mred\033[0m \033[2J\033]0;title\007\377 end\n'",
    );
    let run = held.run(&[]);
    drop(held.gate("1.1"));
    assert_eq!(run.end().code, 0);
    let piped = command(
        held.scene.repo.path(),
        &held.scene.home(),
        &["logs", "1", "1.1"],
    )
    .output()
    .unwrap();
    assert_eq!(
        piped.stdout,
        b"said 1.1 1\n\x1b[31mred\x1b[0m \x1b[2J\x1b]0;title\x07\xff end\n"
    );
    let shown = held.on_terminal(80, &["logs", "1", "1.1"]);
    assert_eq!(shown, "said 1.1 1\n\x1b[31mred\x1b[0m \u{fffd} end\n");
}

#[test]
fn following_goes_from_attempt_to_attempt_and_ends_with_the_task() {
    let held = Held::with("- [ ] 1.1 A\n- [ ] 1.2 B\n", "", "");
    let config = held.scene.repo.path().join("pleach.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    held.scene
        .repo
        .write("pleach.toml", text.replace("retries = 0", "retries = 1"));
    let run = held.run(&["-j", "1"]);
    let first = held.gate("1.1");
    let mut later = held.begin(&["logs", "1", "1.2", "-f"]);
    let mut follow = held.begin(&["logs", "1", "1.1", "-f"]);
    follow.line_with("said 1.1 1");
    let one = held.begin(&["logs", "1", "1.1", "-f", "--attempt", "1"]);
    let not_yet = held.pleach(&["logs", "1", "1.2"]);
    assert_eq!((not_yet.code, not_yet.out.as_str()), (0, ""));
    assert!(
        not_yet.err.contains("has not started; it is queued"),
        "{}",
        not_yet.err
    );
    drop(first);
    let answer = one.end();
    assert_eq!((answer.code, answer.out.as_str()), (0, "said 1.1 1\n"));
    let answer = follow.end();
    assert_eq!(answer.code, 0);
    held.tell("1.2", "echo it broke; exit 1");
    later.line_with("said 1.2 1");
    later.line_with("it broke");
    later.line_with("said 1.2 2");
    held.tell("1.2", "echo it worked");
    let answer = later.end();
    assert_eq!((answer.code, answer.out.as_str()), (0, "it worked\n"));
    assert_eq!(run.end().code, 0);
    let earlier = held.pleach(&["logs", "1", "1.2", "--attempt", "1"]).good();
    assert_eq!(earlier, "said 1.2 1\nit broke\n");
    let last = held.pleach(&["logs", "1", "1.2"]).good();
    assert_eq!(last, "said 1.2 2\nit worked\n");
    let none = held.pleach(&["logs", "1", "1.2", "--attempt", "3"]).bad(2);
    assert!(none.contains("the last one was attempt 2"), "{none}");
}

#[test]
fn following_ends_when_the_batch_is_interrupted() {
    let held = Held::new("- [ ] 1.1 A\n");
    let run = held.run(&[]);
    let gate = held.gate("1.1");
    let mut follow = held.begin(&["logs", "1", "1.1", "-f"]);
    follow.line_with("said 1.1 1");
    run.kill();
    let answer = follow.end();
    assert_eq!(answer.code, 0);
    assert!(answer.err.contains("pleach resume 1"), "{}", answer.err);
    drop(gate);
}

#[test]
fn a_setup_that_failed_tells_why_the_agent_said_nothing() {
    let held = Held::with("- [ ] 1.1 A\n", "setup = \"echo no network; exit 1\"", "");
    let answer = held.run(&[]).end();
    assert_eq!(answer.code, 1, "{}", answer.err);
    assert_eq!(held.pleach(&["logs", "1", "1.1"]).good(), "no network\n");
    let followed = held.pleach(&["logs", "1", "1.1", "-f"]).good();
    assert_eq!(followed, "no network\n");
    let prompt = held.pleach(&["logs", "1", "1.1", "--prompt"]).good();
    assert!(prompt.starts_with("# Task 1.1: A"), "{prompt}");
}

#[test]
fn a_patch_holds_what_was_merged_or_what_a_task_did() {
    let held = Held::new("- [ ] 1.1 A\n- [ ] 1.2 B\n- [ ] 1.3 C (depends: 1.2)\n");
    let run = held.run(&["-j", "2"]);
    let second = held.gate("1.2");
    let nothing = held.pleach(&["diff", "1"]).bad(2);
    assert!(
        nothing.contains("nothing of batch 1 is merged"),
        "{nothing}"
    );
    let running = held.pleach(&["diff", "1", "1.2"]).bad(2);
    assert!(running.contains("it is running"), "{running}");
    drop(second);
    held.tell("1.3", "exit 1");
    drop(held.gate("1.1"));
    assert_eq!(run.end().code, 1);
    let patch = held.pleach(&["diff", "1"]).good();
    held.scene.repo.write("../all.patch", &patch);
    held.scene.repo.git(&["apply", "--check", "../all.patch"]);
    assert!(
        patch.contains("done-1.1") && patch.contains("done-1.2"),
        "{patch}"
    );
    assert!(!patch.contains("half-1.3"), "{patch}");
    let stat = held.pleach(&["diff", "1", "1.3", "--stat"]).good();
    assert_eq!(stat, " half-1.3 | 1 +\n 1 file changed, 1 insertion(+)\n");
    let coloured = held.on_terminal(80, &["diff", "1", "1.3"]);
    assert!(coloured.contains("\x1b[32m+"), "{coloured}");
}
