//! `pleach status` and `pleach progress`.

use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

use crate::held::Held;
use crate::{command, pleach};

const TWO: &str = "- [ ] 1.1 A\n- [ ] 1.2 B (depends: 1.1)\n";

#[test]
fn a_batch_that_runs_is_shown_with_where_each_task_stands() {
    let held = Held::new(TWO);
    assert_eq!(held.pleach(&["status"]).good(), "No batches yet.\n");
    assert_eq!(
        held.pleach(&["status", "--json"]).json()["batches"],
        Value::Array(vec![])
    );
    let run = held.run(&[]);
    let gate = held.gate("1.1");
    let text = held.pleach(&["status"]).good();
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].starts_with("Batch 1 running  0/2 finished"),
        "{text}"
    );
    assert!(lines[1].starts_with("  ▶ 1.1  A  running"), "{text}");
    assert_eq!(lines[2], "  ◌ 1.2  B  queued");
    let batch = held.batch(1);
    assert_eq!(batch["status"], "running");
    assert_eq!(batch["progress"]["running"], 1);
    assert_eq!(batch["tasks"][1]["status"], "queued");
    drop(gate);
    drop(held.gate("1.2"));
    assert_eq!(run.end().code, 0);
    let text = held.pleach(&["status"]).good();
    assert!(text.contains("Batch 1 completed  2/2 finished"), "{text}");
    assert!(text.contains("→ pleach/batch-1"), "{text}");
}

#[test]
fn a_batch_took_the_same_time_in_its_summary_and_its_status_also_after_it_was_opened_again() {
    let held = Held::new("- [ ] 1.1 A\n");
    let seconds = |answer: &crate::Answer| {
        let last = answer.out.lines().last().unwrap();
        let last: Value = serde_json::from_str(last).unwrap();
        (
            last["data"]["seconds"].clone(),
            held.batch(1)["seconds"].clone(),
        )
    };
    let run = held.run(&["--json"]);
    held.tell("1.1", "exit 3");
    let (told, shown) = seconds(&run.end());
    assert_eq!(told, shown);
    let again = held.begin(&["retry", "1", "--json"]);
    drop(held.gate("1.1"));
    let (told, shown) = seconds(&again.end());
    assert_eq!(told, shown);
}

#[test]
fn what_did_not_make_it_says_why_and_where_its_work_is() {
    let held = Held::new("- [ ] 1.1 A\n- [ ] 1.2 B\n- [ ] 1.3 C (depends: 1.2)\n- [ ] 1.4 D\n");
    let run = held.run(&["-j", "3"]);
    held.tell("1.2", "echo no such file; exit 3");
    held.tell("1.1", "echo mine > README.md");
    let mut run_output = run;
    run_output.line_with("merged");
    held.tell("1.4", "echo other > README.md");
    assert_eq!(run_output.end().code, 1);
    let text = held.pleach(&["status"]).good();
    for part in [
        "✗ 1.2  B  failed",
        "the agent exited with 3: no such file",
        "→ pleach/task-1/1.2",
        "○ 1.3  C  blocked",
        "needs 1.2, which failed",
        "✗ 1.4  D  conflicted",
        "README.md with 1.1",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn watching_in_a_pipe_tells_changes_and_ends_with_the_batch() {
    let held = Held::new(TWO);
    let run = held.run(&[]);
    let gate = held.gate("1.1");
    let mut watch = held.begin(&["status", "1", "--watch"]);
    let mut programs = held.begin(&["status", "1", "--watch", "--json"]);
    let first = watch.line_with("batch 1");
    assert!(first.contains("0/2 merged, 1 running"), "{first}");
    programs.line_with("\"running\":1");
    drop(gate);
    drop(held.gate("1.2"));
    assert_eq!(run.end().code, 0);
    let told = watch.end();
    assert_eq!(told.code, 0);
    let lines: Vec<&str> = told.out.lines().collect();
    let mut changes = lines.clone();
    changes.dedup();
    assert_eq!(lines, changes, "only what changed is told");
    let last = *lines.last().unwrap();
    assert!(
        last.contains("completed   2/2 merged  → pleach/batch-1"),
        "{last}"
    );
    let told = programs.end();
    let last: Value = serde_json::from_str(told.out.lines().last().unwrap()).unwrap();
    assert_eq!(last["batches"][0]["status"], "completed");
}

#[test]
fn the_history_lists_every_batch_and_elsewhere_every_repository() {
    let held = Held::new("- [ ] 1.1 A\n");
    let run = held.run(&[]);
    held.tell("1.1", "exit 1");
    assert_eq!(run.end().code, 1);
    let run = held.run(&[]);
    drop(held.gate("1.1"));
    assert_eq!(run.end().code, 0);
    let text = held.pleach(&["status", "--all"]).good();
    let lines: Vec<&str> = text.lines().collect();
    for (line, begins, has) in [
        (lines[0], "batch 2  completed  ", "1/1 merged"),
        (lines[1], "batch 1  failed  ", "0/1 merged, 1 failed"),
    ] {
        assert!(line.starts_with(begins) && line.contains(has), "{text}");
    }
    let elsewhere = held.scene.repo.beside("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let text = pleach(&elsewhere, &held.scene.home(), &["status"]).good();
    assert!(text.contains("Batch 2 completed"), "{text}");
    assert!(
        text.contains(held.scene.repo.path().to_str().unwrap()),
        "{text}"
    );
    let other = pleach_testkit::TestRepo::new();
    let text = pleach(other.path(), &held.scene.home(), &["status"]).good();
    assert_eq!(text, "No batches yet.\n");
}

#[test]
fn nothing_is_wider_than_the_terminal_and_no_colour_means_none() {
    let title = "A title of many words that does not fit into any narrow terminal at all, ever";
    let held = Held::new(&format!("- [ ] 1.1 {title}\n- [ ] 1.2 {title} too\n"));
    let run = held.run(&["-j", "1"]);
    held.tell(
        "1.1",
        "echo a very long reason why this went wrong on this machine today; exit 1",
    );
    drop(held.gate("1.2"));
    assert_eq!(run.end().code, 1);
    for columns in [60, 40, 100] {
        for words in [
            &["status"][..],
            &["status", "--all"],
            &["progress"],
            &["recover"],
        ] {
            let text = held.on_terminal(columns, words);
            assert!(text.contains("\x1b["), "{words:?} is in colour: {text}");
            for line in anstream::adapter::strip_str(&text).to_string().lines() {
                assert!(
                    line.width() <= usize::from(columns),
                    "{columns} {words:?}: {line}"
                );
            }
        }
    }
    let plain = command(held.scene.repo.path(), &held.scene.home(), &["status"])
        .env("CLICOLOR_FORCE", "1")
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    assert!(!plain.stdout.contains(&0x1b));
}

#[test]
fn progress_counts_by_phase_what_is_done_under_way_and_failed() {
    let held = Held::new("- [ ] 1.1 A\n- [ ] 1.2 B\n- [ ] 1.3 C\n- [ ] 1.4 D (depends: 1.1)\n");
    let plan = held.scene.plan();
    held.scene.repo.write(
        "TODO.md",
        plan.replace("- [ ] 1.4", "## Phase 2: Roof\n- [ ] 1.4"),
    );
    let mut run = held.run(&["-j", "3"]);
    let third = held.gate("1.3");
    held.tell("1.2", "exit 1");
    run.line_with("failed");
    drop(held.gate("1.1"));
    let fourth = held.gate("1.4");
    let outlook = held.pleach(&["progress", "--json"]).json();
    let count = |name: &str| outlook[name].as_u64().unwrap();
    assert_eq!(
        (
            count("total"),
            count("completed"),
            count("inProgress"),
            count("failed")
        ),
        (4, 1, 2, 1)
    );
    assert_eq!(outlook["batches"], serde_json::json!([1]));
    assert!(outlook["secondsLeft"].is_number(), "{outlook}");
    assert_eq!(outlook["phases"][1]["title"], "Roof");
    let text = held.pleach(&["progress"]).good();
    assert!(
        text.contains("Phase 2: Roof") && text.contains("1 running"),
        "{text}"
    );
    drop((third, fourth));
    assert_eq!(run.end().code, 1);
}

#[test]
fn progress_takes_the_states_of_a_status_file() {
    let held = Held::new("- [ ] 1.1 A\n");
    held.scene.repo.write(
        "status.json",
        r#"{"tasks":[{"id":"1","status":"completed","phase":"Phase 1: Ground"},
            {"id":"2","status":"skipped","phase":"Phase 1: Ground"},
            {"id":"3","status":"in_progress","phase":"Phase 2: Walls"}]}"#,
    );
    let text = held.pleach(&["progress", "--status", "status.json"]).good();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].ends_with("100 %  2/2"), "{text}");
    assert!(lines[1].ends_with("0 %  0/1, 1 running"), "{text}");
    assert!(lines[2].ends_with("66 %  2/3, 1 running"), "{text}");
}
