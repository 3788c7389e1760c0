//! Ticking tasks, told as keys and what is seen then.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use pleach_domain::graph::{Graph, OrderRules, Strictness};

use super::choices;
use super::draw::{draw, page};
use super::list::{List, Picked};
use crate::keys::Key;
use crate::terminal::TerminalSize;

const PLAN: &str = "\
## Phase 1: Ground
- [x] 1.1 Clear the ground
- [ ] 1.2 Dig the foundation in `ground.md`
- [ ] 1.3 排水管 in `ground.md`, and a title that goes on and on until no terminal is wide enough for it
## Phase 2: Walls
- [ ] 2.1 Raise the frame (depends: 1.2)
- [ ] 2.2 Set the glass (depends: 2.1)
";

const SIZE: TerminalSize = TerminalSize {
    columns: 80,
    rows: 24,
};

fn list(text: &str) -> List {
    let plan = pleach_formats::read(text).plan;
    let graph = Graph::new(&plan, Strictness::AsWritten);
    List::new(choices(&graph, OrderRules::default()).0)
}

/// Presses keys; those in angle brackets have names.
fn press(list: &mut List, keys: &str) -> Option<Picked> {
    let mut picked = None;
    let mut rest = keys;
    while let Some(c) = rest.chars().next() {
        let named = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'));
        let (key, after) = match named {
            Some((name, after)) => (named_key(name), after),
            None => (Key::Character(c), &rest[c.len_utf8()..]),
        };
        picked = picked.or(list.press(key, page(SIZE)));
        rest = after;
    }
    picked
}

fn named_key(name: &str) -> Key {
    match name {
        "enter" => Key::Enter,
        "esc" => Key::Escape,
        "up" => Key::Up,
        "down" => Key::Down,
        "pgdn" => Key::PageDown,
        "pgup" => Key::PageUp,
        "home" => Key::Home,
        "end" => Key::End,
        "back" => Key::Backspace,
        "ctrl-c" => Key::Interrupt,
        other => panic!("no key {other}"),
    }
}

/// What is ticked once the keys are pressed.
#[track_caller]
fn check(keys: &str, expected: &str) {
    let mut list = list(PLAN);
    press(&mut list, keys);
    let ticked = (0..list.choices.len()).filter(|place| list.ticked[*place]);
    let ids: Vec<&str> = ticked
        .map(|place| list.choices[place].id.as_str())
        .collect();
    assert_eq!(ids.join(" "), expected, "{keys}");
}

fn drawn(list: &List, columns: usize, rows: usize) -> String {
    let lines = draw(list, "TODO.md", TerminalSize { columns, rows });
    assert!(lines.len() < rows, "{} lines", lines.len());
    let mut text = String::new();
    for line in lines {
        assert!(line.width() < columns, "{}", line.plain());
        let _ = writeln!(text, "{}", line.plain().trim_end());
    }
    text
}

#[test]
fn space_ticks_and_goes_on() {
    check("  ", "1.2 1.3");
    check(" <up> ", "");
    check("j ", "1.3");
    check("jk ", "1.2");
}

#[test]
fn a_task_brings_what_it_needs_and_takes_what_needs_it() {
    check("<end> ", "1.2 2.1 2.2");
    check("<end> <home> ", "");
    check("a<home> ", "1.3");
}

#[test]
fn what_comes_along_is_said() {
    let mut list = list(PLAN);
    press(&mut list, "<end> ");
    assert_eq!(
        list.note.as_deref(),
        Some("2.2 needs 1.2, 2.1: also selected")
    );
    press(&mut list, "<home> ");
    let note = "2.1, 2.2 cannot run without 1.2: deselected";
    assert_eq!(list.note.as_deref(), Some(note));
}

#[test]
fn all_and_none_mean_what_is_shown() {
    check("a", "1.2 1.3 2.1 2.2");
    check("aa", "");
    check(" a", "1.2 1.3 2.1 2.2");
    check("/frame<enter>a", "1.2 2.1");
    check("a/glass<enter>a", "1.2 1.3 2.1");
}

#[test]
fn a_filter_has_words_of_id_title_and_phase() {
    let shown = |keys: &str| {
        let mut list = list(PLAN);
        press(&mut list, keys);
        let ids = list
            .shown
            .iter()
            .map(|place| list.choices[*place].id.clone());
        ids.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(shown("/walls"), "2.1 2.2");
    assert_eq!(shown("/WALLS set"), "2.2");
    assert_eq!(shown("/排水"), "1.3");
    assert_eq!(shown("/zzz"), "");
    assert_eq!(shown("/zzz<back><back><back>"), "1.2 1.3 2.1 2.2");
    assert_eq!(shown("/walls<esc>"), "1.2 1.3 2.1 2.2");
    assert_eq!(shown("/walls<enter><esc>"), "1.2 1.3 2.1 2.2");
    // A letter that is a command elsewhere is a letter here.
    assert_eq!(shown("/qa"), "");
}

#[test]
fn the_cursor_stays_with_its_task_when_others_are_filtered_out() {
    let mut list = list(PLAN);
    press(&mut list, "<end>/walls");
    assert_eq!(list.shown[list.cursor], 3);
    press(&mut list, "<esc>");
    assert_eq!(list.shown[list.cursor], 3);
}

#[test]
fn enter_runs_what_is_ticked_and_nothing_else_does() {
    let mut list = list(PLAN);
    assert_eq!(press(&mut list, "<enter>"), None);
    assert!(
        list.note
            .as_deref()
            .unwrap()
            .starts_with("nothing selected")
    );
    assert_eq!(
        press(&mut list, "  <enter>"),
        Some(Picked::These(vec![0, 1]))
    );
}

#[test]
fn there_are_three_ways_to_leave() {
    for (keys, expected) in [
        ("a<esc>", Picked::Nothing),
        ("aq", Picked::Nothing),
        ("a<ctrl-c>", Picked::Interrupted),
        ("/abc<ctrl-c>", Picked::Interrupted),
    ] {
        assert_eq!(press(&mut list(PLAN), keys), Some(expected), "{keys}");
    }
}

#[test]
fn an_empty_list_takes_every_key() {
    let mut list = list("- [x] 1 Done\n");
    press(
        &mut list,
        " a<up><down><pgdn><pgup><home><end>/x<back><enter>",
    );
    assert!(drawn(&list, 80, 24).contains("no task matches"));
}

#[test]
fn the_list_is_grouped_and_says_who_waits_for_whom_at_every_width() {
    let mut list = list(PLAN);
    press(&mut list, "j ");
    let drawn = [120, 80, 60, 40].map(|columns| {
        let ruler = "─".repeat(columns);
        format!("{ruler}\n{}", drawn(&list, columns, 24))
    });
    insta::assert_snapshot!(drawn.concat());
}

#[test]
fn a_low_terminal_shows_the_lines_around_the_cursor() {
    let mut list = list(PLAN);
    press(&mut list, "<end>/w");
    insta::assert_snapshot!(drawn(&list, 40, 6));
}

#[test]
fn a_thousand_tasks_scroll_fast() {
    let mut text = String::new();
    for number in 1..=1_000 {
        let need = if number > 1 { number - 1 } else { 0 };
        let _ = match need {
            0 => writeln!(text, "- [ ] 1.{number} Task"),
            need => writeln!(text, "- [ ] 1.{number} Task (depends: 1.{need})"),
        };
    }
    let mut list = list(&text);
    let began = Instant::now();
    press(&mut list, "<pgdn><pgdn><end> /99<enter>");
    for _ in 0..100 {
        press(&mut list, "<up>");
        drawn(&list, 80, 24);
    }
    assert_eq!(list.ticked(), 1_000);
    // A hundred keys in less time than it takes to press them, on a slow and busy machine too.
    assert!(began.elapsed() < Duration::from_secs(10));
}
