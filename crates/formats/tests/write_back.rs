//! Writing back: exactly the bytes of the mark change, and reading gives what was written.

#![expect(clippy::unwrap_used, reason = "tests say what is wrong by panicking")]

use pleach_domain::task::TaskStatus;
use pleach_formats::{Mark, Marker, WriteBackError, read, set_markers};
use proptest::prelude::*;

#[track_caller]
fn check(text: &str, id: &str, to: Marker, expected: &str) {
    let document = read(text);
    let position = document.plan.index().find(id).unwrap();
    let edited = set_markers(text, &[document.change(position, to)]).unwrap();
    assert_eq!(edited.as_deref().unwrap_or(text), expected);
}

#[test]
fn a_checkbox_becomes_ticked_and_open_again() {
    check(
        "- [ ] a\n- [ ] b",
        "2",
        Marker::Completed,
        "- [ ] a\n- [x] b",
    );
    check("* [X] a\r\n", "1", Marker::Pending, "* [ ] a\r\n");
    check("* [X] a\r\n", "1", Marker::Completed, "* [X] a\r\n");
}

#[test]
fn a_status_line_takes_every_state_and_gets_its_own_back() {
    let text = "\u{feff}### 1. A\r\n- **Status**: PLANNED (ask Ann)  \r\n";
    let begun = "\u{feff}### 1. A\r\n- **Status**: [IN PROGRESS] (ask Ann)  \r\n";
    check(text, "1", Marker::InProgress, begun);
    check(begun, "1", Marker::Restored("PLANNED".into()), text);
    check(
        text,
        "1",
        Marker::Completed,
        &text.replace("PLANNED", "[COMPLETED]"),
    );
    check(
        begun,
        "1",
        Marker::Pending,
        &text.replace("PLANNED", "[NOT STARTED]"),
    );
}

#[test]
fn what_the_text_cannot_hold_is_refused() {
    let document = read("- [ ] a\n\n### 7. No status\ntext\n");
    let started = set_markers(
        "- [ ] a\n\n### 7. No status\ntext\n",
        &[document.change(0, Marker::InProgress)],
    );
    assert!(matches!(started, Err(WriteBackError::CannotHold { .. })));
    let done = set_markers(
        "- [ ] a\n\n### 7. No status\ntext\n",
        &[document.change(1, Marker::Completed)],
    );
    assert!(matches!(done, Err(WriteBackError::CannotHold { .. })));
}

#[test]
fn an_edited_file_is_marked_at_the_same_task() {
    let before = read("- [ ] a\n- [ ] b\n");
    let change = before.change(1, Marker::Completed);
    let after = set_markers(
        "- [ ] new\n\n- [ ] a\n* [ ] b\n",
        std::slice::from_ref(&change),
    )
    .unwrap();
    assert_eq!(after.as_deref(), Some("- [ ] new\n\n- [ ] a\n* [x] b\n"));
    let gone = set_markers("- [ ] a\n- [ ] renumbered\n", &[change]);
    assert!(matches!(gone, Err(WriteBackError::Gone { .. })));
}

#[test]
fn of_two_tasks_with_one_text_neither_is_marked() {
    let text = "- [ ] Same\n- [ ] Other\n- [ ] Same\n";
    let document = read(text);
    let marked = set_markers(text, &[document.change(2, Marker::Completed)]);
    assert!(matches!(marked, Err(WriteBackError::Ambiguous { .. })));
}

#[test]
fn a_status_in_backticks_or_behind_an_emoji_is_replaced_where_it_stands() {
    check(
        "### 1. A\n**Status**: `[IN PROGRESS]`\n",
        "1",
        Marker::Completed,
        "### 1. A\n**Status**: `[COMPLETED]`\n",
    );
    check(
        "### 1. A\n**Status**: 🔴 [NOT STARTED]\n",
        "1",
        Marker::Completed,
        "### 1. A\n**Status**: 🔴 [COMPLETED]\n",
    );
    check(
        "### 1. A\n**Status**: ✅ [DONE]\n",
        "1",
        Marker::Pending,
        "### 1. A\n**Status**: [NOT STARTED]\n",
    );
}

#[test]
fn several_tasks_are_one_edit() {
    let text = "- [ ] 1.1 a\n- [ ] 1.2 b\n- [ ] 1.3 c\n";
    let document = read(text);
    let changes: Vec<_> = [2, 0]
        .iter()
        .map(|at| document.change(*at, Marker::Completed))
        .collect();
    let edited = set_markers(text, &changes).unwrap();
    assert_eq!(
        edited.as_deref(),
        Some("- [x] 1.1 a\n- [ ] 1.2 b\n- [x] 1.3 c\n")
    );
}

/// A random plan that mixes dialects, line ends and oddities.
fn plan() -> impl Strategy<Value = String> {
    let words = "[a-zé✅ ]{0,12}";
    let status = prop::sample::select(vec![
        "[NOT STARTED]",
        "[COMPLETED]",
        "[IN PROGRESS] (x)",
        "`[PLANNED]`",
        "✅ [DONE]",
        "🔄 [IN PROGRESS]",
        "[x] DONE",
        "PLANNED",
        "✅ done",
        "[odd",
        "",
    ]);
    let entry = prop_oneof![
        (0..2_u8, words, 0..3_u8).prop_map(|(done, text, bullet)| {
            let bullet = ["-", "*", "1."][usize::from(bullet)];
            let done = ["[ ]", "[x]"][usize::from(done)];
            format!("{bullet} {done} N {text}\n")
        }),
        (words, status).prop_map(|(text, status)| {
            format!("\n### N. t{text}\n- **Priority**: High\n- **Status**: {status}\n\n")
        }),
        words.prop_map(|text| format!("## Phase 2: {text}\n")),
        words.prop_map(|text| format!("  {text}\n\n")),
        Just("```\n- [ ] no\n```\n".to_owned()),
        Just("> - [ ] no\n".to_owned()),
    ];
    (proptest::collection::vec(entry, 1..24), any::<[bool; 3]>()).prop_map(
        |(entries, [crlf, bom, cut])| {
            let mut text = String::new();
            for (number, entry) in entries.iter().enumerate() {
                text += &entry.replace('N', &format!("7.{number}"));
            }
            if crlf {
                text = text.replace('\n', "\r\n");
            }
            if cut {
                text.truncate(text.trim_end().len());
            }
            if bom { format!("\u{feff}{text}") } else { text }
        },
    )
}

/// How many cases a property is tried on; `cargo xtask fuzz` asks for many more.
fn cases(usual: u32) -> u32 {
    let asked = std::env::var("PLEACH_CASES").ok();
    asked.and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(2_000)))]

    #[test]
    fn a_written_status_is_read_back_and_all_other_bytes_stay(
        text in plan(),
        pick in any::<prop::sample::Index>(),
        state in 0..3_usize,
    ) {
        let document = read(&text);
        if document.plan.tasks.is_empty() {
            return Ok(());
        }
        let position = pick.index(document.plan.tasks.len());
        let (marker, wanted) = [
            (Marker::Pending, TaskStatus::Pending),
            (Marker::InProgress, TaskStatus::InProgress),
            (Marker::Completed, TaskStatus::Completed),
        ][state].clone();
        if document.refuses(position, &marker).is_some() {
            return Ok(());
        }
        let at = match &document.places[position].mark {
            Mark::Checkbox(at) | Mark::Status(at) => at.clone(),
            Mark::None => unreachable!("a task without a mark refuses every state"),
        };
        let edited = set_markers(&text, &[document.change(position, marker)]).unwrap();
        let edited = edited.unwrap_or_else(|| text.clone());
        let again = read(&edited);
        prop_assert_eq!(again.plan.tasks[position].status, wanted);
        for (other, (before, after)) in document.plan.tasks.iter().zip(&again.plan.tasks).enumerate() {
            prop_assert!(other == position || before.status == after.status);
            prop_assert_eq!(&before.id, &after.id);
        }
        let behind = text.len() - at.end;
        prop_assert_eq!(&edited[..at.start], &text[..at.start]);
        prop_assert_eq!(&edited[edited.len() - behind..], &text[at.end..]);
        let original = document.marker_text(&text, position).unwrap();
        let restored = set_markers(&edited, &[document.change(position, Marker::Restored(original))]).unwrap();
        let restored = restored.unwrap_or_else(|| edited.clone());
        // Only what says that it is in progress is ours to take back.
        let expected = if wanted == TaskStatus::InProgress { text } else { edited };
        prop_assert_eq!(restored, expected);
    }
}

#[test]
fn boxes_inside_a_task_are_ticked_and_restored_with_it() {
    let text = "- [ ] Parent\n  - [ ] child a\n  - [x] child b\n    - [ ] deep\n- [ ] Other\n";
    let done = "- [x] Parent\n  - [x] child a\n  - [x] child b\n    - [x] deep\n- [ ] Other\n";
    check(text, "1", Marker::Completed, done);
    let before = read(text).marker_text(text, 0).unwrap();
    check(done, "1", Marker::TakenBack(before.clone()), text);
    let edited = done.replace("    - [x] deep\n", "");
    let parent_alone = edited.replacen("[x] Parent", "[ ] Parent", 1);
    check(&edited, "1", Marker::TakenBack(before), &parent_alone);
    check(
        done,
        "1",
        Marker::TakenBack(" ".into()),
        &done.replacen("[x]", "[ ]", 1),
    );
}
