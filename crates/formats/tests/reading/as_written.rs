//! Plans as people write them: what counts in prose only, what is a check, what is an id.

use pleach_domain::task::{Priority, TaskHold};

use crate::check;

#[test]
fn annotations_in_code_and_links_say_nothing() {
    check(
        "- [ ] 1.1 A\n- [ ] 1.2 Read `(depends: 9.9)` and [docs (depends: 8.8)](https://x.org/d)\n  or `(depends: 7.7)` below\n- [ ] 1.3 C (depends: 1.1), not `(depends: 9)`\n",
        "1.1 [ ] A
         1.2 [ ] Read (depends: 9.9) and docs (depends: 8.8)
         1.3 [ ] C, not (depends: 9) < 1.1",
    );
    check("### 1. T\n- Uses `(depends: 9.9)` syntax\n", "1 [ ] T");
    let plan = pleach_formats::read(
        "## Phase 3: P\nTasks 3.1-3.2 are `[SEQUENTIAL]`, see [Tasks 3.1-3.2 are [SEQUENTIAL]](x.md)\n\n- [ ] 3.1 A\n- [ ] 3.2 B\n",
    )
    .plan;
    assert_eq!(plan.sequences, []);
    check(
        "### 1. T\nA value `of\n**Status**: [DONE]\nis` code\n",
        "1 [ ] T",
    );
}

#[test]
fn a_task_chooses_a_size_in_prose_only() {
    let text = "- [ ] 1.1 A (size: large)\n- [ ] 1.2 `(size: a)` and [docs (size: b)](https://x.org)\n  or `(size: c)`\n\
                - [ ] 1.3 C\n\n  ```\n  (size: d)\n  ```\n- [ ] 1.4 D (depends: 1.1)\n  and more (size: small)\n\
                - [ ] 1.5 E\n  - [ ] part (size: medium)\n";
    check(
        text,
        "1.1 [ ] A
         1.2 [ ] (size: a) and docs (size: b)
         1.3 [ ] C
         1.4 [ ] D < 1.1
         1.5 [ ] E",
    );
    let sizes = |text: &str| -> Vec<Option<(String, u32)>> {
        let tasks = pleach_formats::read(text).plan.tasks.into_iter();
        let size = tasks.map(|task| task.size.map(|size| (size.name, size.line)));
        size.collect()
    };
    let size = |name: &str, line| Some((name.to_owned(), line));
    assert_eq!(
        sizes(text),
        [
            size("large", 1),
            None,
            None,
            size("small", 10),
            size("medium", 12)
        ]
    );
    let sections = "### 1. T\n**Status**: [NOT STARTED]\n**Size**: large\n\nText\n\n### 2. U\n- **Size**: `x-1`\n\n\
                    ### 3. V\n**Size**: 12 kB or less\n\n### 4. W\n```\n**Size**: large\n```\n";
    assert_eq!(
        sizes(sections),
        [size("large", 3), size("x-1", 8), None, None]
    );
    let json =
        "{\"tasks\":[\n{\"id\":1,\"size\":\"large\"},\n{\"id\":2,\"size\":null},\n{\"id\":3}]}";
    assert_eq!(sizes(json), [size("large", 2), None, None]);
}

#[test]
fn what_chooses_a_size_stays_in_what_agents_get() {
    let plan =
        pleach_formats::read("- [ ] 1.1 Fix **it** (size: large)\n  soon (size: small)\n").plan;
    assert_eq!(plan.tasks[0].written_title(), "Fix **it** (size: large)");
    assert_eq!(plan.tasks[0].title, "Fix it");
    assert_eq!(plan.tasks[0].details.trim(), "soon (size: small)");
}

#[test]
fn a_reason_may_have_code_in_it() {
    let plan = pleach_formats::read(
        "**Execution Note:** Tasks 3.1-3.2 are [SEQUENTIAL] - both call `f(x)`\n\n- [ ] 3.1 A\n- [ ] 3.2 B\n",
    )
    .plan;
    assert_eq!(plan.sequences[0].reason, "both call f(x)");
}

#[test]
fn agents_get_the_title_with_its_markdown() {
    let titles = |text: &str| -> Vec<String> {
        let plan = pleach_formats::read(text).plan;
        let titles = plan.tasks.iter();
        titles.map(|task| task.written_title().to_owned()).collect()
    };
    let text = "- [ ] 1.1 Fix [the crash](https://ex.org/issues/12) in `a b.py`, see **ADR 3** (depends: 1.2)\n- [ ] 1.2 plain\n";
    assert_eq!(
        titles(text),
        [
            "Fix [the crash](https://ex.org/issues/12) in `a b.py`, see **ADR 3**",
            "plain"
        ]
    );
    check(
        text,
        "1.1 [ ] Fix the crash in a b.py, see ADR 3 < 1.2\n1.2 [ ] plain",
    );
    assert_eq!(titles("### 63. **Weave** `it` ✅\n"), ["**Weave** `it`"]);
    assert_eq!(titles("- [ ] **3.1 Bold** `x`\n"), ["**Bold** `x`"]);
}

#[test]
fn boxes_below_criteria_and_their_sub_headings_are_checks() {
    let text = "# P\n## Phase 1: A\n- [ ] 1.1 x\n\n### Verification\n- [ ] `make` passes\n- [ ] 1.7 numbered\n\n## Success Criteria\n\n### Functional Requirements\n- [ ] Zero bugs\n#### 1. Deeper\n- [ ] No leaks\n\n## Phase 2: B\n- [ ] 2.1 y\n";
    check(text, "1.1 [ ] x p1\n2.1 [ ] y p2");
    let plan = pleach_formats::read(text).plan;
    assert_eq!(plan.phases[0].checks, ["`make` passes", "numbered"]);
    let messages: Vec<&str> = plan.warnings.iter().map(|w| w.message.as_str()).collect();
    assert_eq!(
        messages,
        ["4 checkboxes below criteria are checks, not tasks"]
    );
    let one = pleach_formats::read("- [ ] a\n## Definition of Done\n- [ ] b\n").plan;
    assert_eq!(one.tasks.len(), 1);
    assert_eq!(
        one.warnings[0].message,
        "1 checkbox below criteria is a check, not a task"
    );
}

#[test]
fn a_box_that_begins_with_verify_and_a_number_is_a_check_of_that_phase() {
    let text = "## Phase 1: A\n- [ ] 1.1 x\n- [ ] **VERIFY 1:** round-trip <100ms\n## Phase 2: B\n- [ ] 2.1 y\n- [ ] **VERIFY 2** `pause` works\n- [ ] VERIFY 3 things by hand\n";
    check(
        text,
        "1.1 [ ] x p1\n2.1 [ ] y p2\n1 [ ] VERIFY 3 things by hand p2",
    );
    let plan = pleach_formats::read(text).plan;
    assert_eq!(plan.phases[0].checks, ["round-trip <100ms"]);
    assert_eq!(plan.phases[1].checks, ["`pause` works"]);
}

#[test]
fn where_sections_say_how_far_they_are_one_that_does_not_is_a_heading() {
    check(
        "## Task Order\n### 0. Strict\ntext\n### 1. Phase B (CRITICAL PATH)\n- 81 first\n### Backlog\n## Tasks\n### 81. A\n**Status**: [NOT STARTED]\n### 82. B\n**Status**: [PLANNED]\n#### 1. A step\n### 83. C ✅\n",
        "81 [ ] A\n82 [ ] B\n83 [x] C",
    );
    check(
        "### 1. A\n**Dependencies**: 2\n### 2. B\n**Status**: [DONE]\n",
        "1 [ ] A < 2\n2 [x] B",
    );
    check(
        "### 1. A\n### 2. B\n### 3. C\n**Status**: [DONE]\n",
        "1 [ ] A\n2 [ ] B\n3 [x] C",
    );
}

#[test]
fn blocked_is_pending_and_held() {
    let plan = pleach_formats::read(
        "### 1. A\n**Status**: [BLOCKED] (by the vendor)\n### 2. B\n**Status**: [RESEARCHING]\n**Depends On**: 1\n",
    )
    .plan;
    let holds: Vec<TaskHold> = plan.tasks.iter().map(|task| task.hold).collect();
    assert_eq!(holds, [TaskHold::Blocked, TaskHold::None]);
    assert_eq!(plan.tasks[1].needs[0].on.as_str(), "1");
}

#[test]
fn a_bare_number_is_an_id_where_most_boxes_begin_with_one() {
    check(
        "- [ ] 7 Foo\n- [x] 8 Bar (depends: 7)\n- [ ] **10** Qux\n- [ ] loose\n",
        "7 [ ] Foo\n8 [x] Bar < 7\n10 [ ] Qux\n1 [ ] loose",
    );
    check(
        "- [ ] apples\n- [ ] **10** pears\n- [ ] plums (depends: 10)\n",
        "1 [ ] apples\n10 [ ] pears\n2 [ ] plums < 10",
    );
    let text = "- [ ] 3 apples\n- [ ] pears\n- [ ] T7 plums\n- [ ] AUTH-14 kiwis\n- [ ] 5) figs\n";
    check(
        text,
        "1 [ ] 3 apples\n2 [ ] pears\n3 [ ] T7 plums\nAUTH-14 [ ] kiwis\n5 [ ] figs",
    );
    let plan = pleach_formats::read(text).plan;
    let messages: Vec<&str> = plan.warnings.iter().map(|w| w.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "3 at line 1 is not recognized as an id; it is task 1",
            "T7 at line 3 is not recognized as an id; it is task 3",
            "the checkbox at line 2 has no id; it is task 2",
        ]
    );
    assert_eq!(
        plan.warnings[0].hint.as_deref(),
        Some("for an id write 3., #3, **3**, T003 or AUTH-3")
    );
    let fruit = pleach_formats::read("- [ ] 3 apples\n- [ ] pears\n").plan;
    assert_eq!(fruit.warnings.len(), 1);
}

#[test]
fn a_phase_keeps_its_title_behind_the_tag() {
    let plan =
        pleach_formats::read("## Phase 3 [SEQUENTIAL]: Docs\n- [ ] 3.1 A\n- [ ] 3.2 B\n").plan;
    assert_eq!(plan.phases[0].title, "Docs");
    assert_eq!(plan.sequences[0].tasks.len(), 2);
    assert_eq!(plan.sequences[0].reason, "");
}

#[test]
fn bare_paths_and_capitals_in_titles_are_noticed() {
    let plan = pleach_formats::read(
        "- [ ] 1.1 CRITICAL: update src/app.ts, then `src/b.ts`\n  and docs/guide.md.\n- [ ] 1.2 use `HIGH`\n",
    )
    .plan;
    assert_eq!(plan.tasks[0].mentions, ["src/app.ts", "docs/guide.md"]);
    assert_eq!(plan.tasks[0].files, ["src/b.ts"]);
    assert_eq!(plan.tasks[0].priority, Priority::Critical);
    assert_eq!(plan.tasks[1].priority, Priority::Medium);
}
