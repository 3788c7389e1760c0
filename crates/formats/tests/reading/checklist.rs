//! Checklists.

use crate::check;

#[test]
fn every_kind_of_bullet_opens_a_task() {
    check(
        "- [ ] dash\n* [x] star\n+ [X] plus\n1. [ ] one\n2) [ ] two\n",
        "1 [ ] dash
         2 [x] star
         3 [x] plus
         4 [ ] one
         5 [ ] two",
    );
}

#[test]
fn indented_text_and_nested_checkboxes_are_details() {
    let text = "- [ ] outer\n  first\n\n  - [ ] inner\n    deep\n- [ ] next\n";
    check(text, "1 [ ] outer\n2 [ ] next");
    let plan = pleach_formats::read(text).plan;
    assert_eq!(plan.tasks[0].details, "first\n\n- [ ] inner\n  deep");
    assert_eq!(plan.tasks[1].details, "");
    assert_eq!((plan.tasks[0].line, plan.tasks[1].line), (1, 6));
}

#[test]
fn a_checkbox_below_a_plain_bullet_is_a_task() {
    check(
        "- Group\n  - [ ] inside\n- [ ] beside\n",
        "1 [ ] inside\n2 [ ] beside",
    );
}

#[test]
fn ids_of_every_shape_are_read() {
    check(
        "- [ ] 1.1.2 Deep\n- [ ] #12 Hash\n- [ ] ENG-7 Tracker\n- [ ] **2.1** Bold id\n- [ ] **3.1 Bold title** and more\n- [ ] 🚀 4.1 Launch\n",
        "1.1.2 [ ] Deep
         #12 [ ] Hash
         ENG-7 [ ] Tracker
         2.1 [ ] Bold id
         3.1 [ ] Bold title and more
         4.1 [ ] 🚀 Launch",
    );
}

#[test]
fn counted_ids_stay_clear_of_written_ones() {
    let text = "- [ ] free\n- [ ] 1. taken\n- [ ] also free\n";
    check(text, "2 [ ] free\n1 [ ] taken\n3 [ ] also free");
    let plan = pleach_formats::read(text).plan;
    let codes: Vec<&str> = plan
        .warnings
        .iter()
        .map(|warning| warning.code.as_str())
        .collect();
    assert_eq!(codes, ["no_id"]);
}

#[test]
fn equal_texts_without_ids_are_an_error_that_names_both_lines() {
    let plan = pleach_formats::read("- [ ] same\n- [ ] other\n- [x] same\n").plan;
    assert_eq!(plan.errors.len(), 1);
    assert_eq!(plan.errors[0].code.as_str(), "duplicate_id");
    assert_eq!(
        plan.errors[0].message,
        "the tasks at line 1 and line 3 have the same text, \"same\""
    );
}

#[test]
fn dependencies_are_read_from_text_and_details() {
    check(
        "- [ ] 1.1 A\n- [ ] 1.2 B (depends: 1.1)\n- [ ] 1.3 C\n  because (depends: Task 1.1, 1.2)\n- [ ] 1.4 D (depends: 1.1-1.3)\n- [ ] 1.5 E (depends: none)\n",
        "1.1 [ ] A
         1.2 [ ] B < 1.1
         1.3 [ ] C < 1.1 1.2
         1.4 [ ] D < 1.1 1.2 1.3
         1.5 [ ] E",
    );
}

#[test]
fn code_spans_declare_files_and_code_blocks_do_not() {
    check(
        "- [ ] Edit `src/a.rs` with `cargo fmt`\n  see `docs/b.md`\n\n  ```\n  `src/c.rs` (depends: 9)\n  ```\n",
        "1 [ ] Edit src/a.rs with cargo fmt @ src/a.rs docs/b.md",
    );
}

#[test]
fn a_checkbox_without_text_is_no_task() {
    check("- [ ]\n- [ ] real\n", "1 [ ] real");
}
