//! What real files look like.

use proptest::prelude::*;

use crate::check;

#[test]
fn dialects_mix_in_one_file() {
    check(
        "- [ ] loose end\n\n## Phase 1: Begin\n- [ ] 1.1 Phased\n\n### 63. Section\n**Status**: [PLANNED]\n**Dependencies**: 1.1\n- [ ] a detail\n\n# More\n- [x] ENG-7 done\n",
        "1 [ ] loose end
         1.1 [ ] Phased p1
         63 [ ] Section p1 < 1.1
         ENG-7 [x] done",
    );
}

#[test]
fn quotes_code_comments_and_front_matter_hold_no_tasks() {
    check(
        "---\ntitle: x\nlist:\n- [ ] not me\n---\n\n> - [ ] quoted\n> ### 1. Quoted\n\n```md\n- [ ] fenced\n### 2. Fenced\n```\n\n    - [ ] indented code\n\n<!--\n- [ ] commented\n-->\n\n- [ ] real\n",
        "1 [ ] real",
    );
}

#[test]
fn a_file_that_begins_with_a_rule_has_no_front_matter() {
    check("---\n\n- [ ] a\n\n---\n\n- [ ] b\n", "1 [ ] a\n2 [ ] b");
}

#[test]
fn carriage_returns_byte_order_marks_and_tabs_change_nothing() {
    let text = "\u{feff}---\r\nkey: value\r\n---\r\n- [ ] 1.1 One\r\n\tmore `src/a.rs`\r\n\r\n### 2. Two\r\n**Status**: [DONE]\r\n**Dependencies**: 1.1\r\n";
    check(text, "1.1 [ ] One @ src/a.rs\n2 [x] Two < 1.1");
    let plan = pleach_formats::read(text).plan;
    assert_eq!((plan.tasks[0].line, plan.tasks[1].line), (4, 7));
    assert_eq!(plan.tasks[0].details, "more `src/a.rs`");
}

#[test]
fn generic_types_stay_in_titles_and_comments_do_not() {
    check(
        "- [ ] Return Option<User> here\n- [ ] Return Option<Team> here <!-- later -->\n",
        "1 [ ] Return Option<User> here\n2 [ ] Return Option<Team> here",
    );
}

#[test]
fn a_picture_before_a_task_is_no_part_of_it() {
    let plan = pleach_formats::read("![](logo.png)\n\n- [ ] 1.1 Foo\n  detail\n").plan;
    assert_eq!(plan.tasks[0].details, "detail");
}

#[test]
fn a_template_that_begins_with_a_brace_is_markdown() {
    check("{% raw %}\n\n- [ ] a\n", "1 [ ] a");
}

#[test]
fn an_empty_text_is_an_empty_plan() {
    check("", "");
    check("\u{feff}", "");
    check("just words\n", "");
}

/// How many cases a property is tried on; `cargo xtask fuzz` asks for many more.
fn cases(usual: u32) -> u32 {
    let asked = std::env::var("PLEACH_CASES").ok();
    asked.and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(3_000)))]

    #[test]
    fn reading_never_panics_on_any_text(text in any::<String>()) {
        pleach_formats::read(&text);
    }

    #[test]
    fn reading_never_panics_on_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        pleach_formats::read(&String::from_utf8_lossy(&bytes));
    }

    /// Random pieces of plans, joined in any order, reach far more of the reader than random bytes.
    #[test]
    fn reading_never_panics_on_shuffled_plans(pieces in proptest::collection::vec(piece(), 0..60)) {
        let text = pieces.concat();
        let document = pleach_formats::read(&text);
        for (task, place) in document.plan.tasks.iter().zip(&document.places) {
            prop_assert!(task.line >= 1);
            if let pleach_formats::Mark::Checkbox(at) = &place.mark {
                prop_assert_eq!(at.len(), 1);
                prop_assert_eq!(&text[at.start - 1..at.start], "[");
            }
        }
    }
}

fn piece() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "- [ ] ",
        "* [x] ",
        "1. [ ] ",
        "  - [ ] ",
        "\t",
        "\n",
        "\r\n",
        "\n\n",
        "### ",
        "## Phase ",
        "63. ",
        "2.1 ",
        "#12 ",
        "ENG-7 ",
        "**Status**: ",
        "[NOT STARTED]",
        "[",
        "]",
        "(",
        ")",
        "(depends: ",
        "(depends",
        "1.1, ",
        "1.1-1.9",
        "9-1",
        "**Dependencies**: ",
        "**Blocking**: ",
        "*Effort**: 2h",
        "**Files Affected**:\n",
        "`src/a.rs`",
        "`",
        "```\n",
        "> ",
        "<!-- ",
        " -->",
        "---\n",
        "+++\n",
        "===\n",
        "**VERIFY Phase 2:**",
        "**Execution Note:** ",
        "Tasks 3.1-3.4 are [SEQUENTIAL] - ",
        "[SEQUENTIAL",
        "\u{feff}",
        "🚀",
        "é",
        "\0",
        "{",
        "}",
        "\"tasks\":[",
        "&amp;",
        "\\",
        "|",
        "~~",
        "[x]: /url\n",
        "![a](b)",
    ]);
    prop_oneof![4 => fixed.prop_map(str::to_owned), 1 => "[ -~é🚀\\n]{0,8}"]
}
