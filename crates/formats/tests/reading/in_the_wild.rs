//! Shapes of plans that are common in public repositories.

use pleach_domain::task::TaskHold;
use pleach_formats::{Marker, set_markers};

use crate::check;

#[test]
fn ids_with_an_underscore_open_sections() {
    check(
        "### OC_12. Route commands\n- **Status**: [NOT STARTED]\n- **Dependencies**: OC_11, 7\n### OC_11. Show a header\n- **Status**: [COMPLETED]\n### 7. Older\n- **Status**: [PLANNED]\n",
        "OC_12 [ ] Route commands < OC_11 7\nOC_11 [x] Show a header\n7 [ ] Older",
    );
}

#[test]
fn beside_tasks_by_name_a_merely_numbered_heading_is_a_chapter() {
    check(
        "## 1. Context\ntext\n## 2. Files\n### Task 1: Parse\n- [ ] **Step 1: test**\n### Task 2: Print\n**Files:**\n- Create: `src/print.rs`\n### 3. Notes\n**Depends on**: Task 1\n",
        "1 [ ] Parse\n2 [ ] Print @ src/print.rs\n3 [ ] Notes < 1",
    );
}

#[test]
fn a_chapter_that_holds_phases_is_no_task() {
    check(
        "## 1. Overview\ntext\n## 2. Roadmap\n### Phase 1: Base\n**Effort**: 2 days\n**Status**: planned\n- [ ] schema\n- [x] store\n### Phase 2: Top\n- [ ] 2.1 page\n## 3. Risks\ntext\n",
        "1 [ ] schema p1\n2 [x] store p1\n2.1 [ ] page p2",
    );
    check(
        "### 8. Migrate\n**Status**: [PLANNED]\n#### Phase 1: Copy\n- [ ] rows\n#### Phase 2: Switch\n- [ ] reads\n",
        "8 [ ] Migrate",
    );
    check(
        "## 5. Migrate\n### Phase 1: Copy\nrows\n### Phase 2: Switch\nreads\n",
        "5 [ ] Migrate",
    );
}

#[test]
fn a_phase_may_have_the_number_of_its_chapter_before_it() {
    check(
        "## 1. Goals\n## 2. Phase 1 — Core\n- [ ] parser\n### 2.1 More\n- [ ] lexer\n## 3. Phase 2 (later)\n- [ ] printer\n## 4. Lessons\n",
        "1 [ ] parser p1\n2 [ ] lexer p1\n3 [ ] printer p2",
    );
    check(
        "### 4. Phase 2: Switch\n**Status**: [PLANNED]\n- [ ] reads\n### 5. Phase 2 of the move\n**Status**: [DONE]\n### Task 6: Phase 3: Clean\n**Status**: [DONE]\n",
        "4 [ ] Phase 2: Switch\n5 [x] Phase 2 of the move\n6 [x] Phase 3: Clean",
    );
    check(
        "## 1. Phase 1: A\ntext\n## 2. Phase 2: B\n",
        "1 [ ] Phase 1: A\n2 [ ] Phase 2: B",
    );
}

#[test]
fn sections_inside_a_phase_stay_tasks_beside_its_boxes() {
    check(
        "## 1. Why\n## Phase 1: A\n### 7. Section\ntext\n## Phase 2: B\n- [ ] box\n",
        "7 [ ] Section p1\n1 [ ] box p2",
    );
}

#[test]
fn review_checklists_are_checks() {
    check(
        "### Task 1: A\n- [ ] Step\n## Self-Review Checklist\n- [ ] no placeholders\n## Code Review Checklist\n- [ ] types\n",
        "1 [ ] A",
    );
}

#[test]
fn an_ending_alone_is_no_file() {
    check(
        "- [ ] 1.1 Read `.md` and `.env`\n- [ ] 1.2 Write `.md`\n",
        "1.1 [ ] Read .md and .env @ .env\n1.2 [ ] Write .md",
    );
}

#[test]
fn the_boxes_of_a_numbered_checklist_that_is_no_task_are_checks() {
    check(
        "## Phase 1: A\n- [ ] 1.1 x\n## Process\n### 1. Branches\ntext\n### 2. Code Review Checklist\n- [ ] types\n#### More\n- [ ] names\n",
        "1.1 [ ] x p1",
    );
}

#[test]
fn a_box_may_be_under_way_or_optional() {
    let text = "- [~] 1. Parse\n  - [x] 1.1 words\n  - [/] 1.2 `(depends: 9)` lines\n- [/] 2. Print `src/a b.rs`\n- [ ]* 3. Tests of `src/a.rs` (depends: 1)\n- [x]\\* 4. More\n\n  loose\n* [~] 5. Last\n";
    check(
        text,
        "1 [~] Parse\n2 [~] Print src/a b.rs\n3 [ ] Tests of src/a.rs < 1 @ src/a.rs\n4 [x] More\n5 [~] Last",
    );
    let document = pleach_formats::read(text);
    assert_eq!(document.plan.warnings, []);
    assert_eq!(document.plan.tasks[1].written_title(), "Print `src/a b.rs`");
    let changes = [0, 1, 2].map(|at| document.change(at, Marker::Completed));
    let done = set_markers(text, &changes).unwrap().unwrap();
    assert!(
        done.starts_with(
            "- [x] 1. Parse\n  - [x] 1.1 words\n  - [x] 1.2 `(depends: 9)` lines\n- [x] 2."
        ),
        "{done}"
    );
    let back = [0, 1, 2].map(|at| {
        let before = document.marker_text(text, at).unwrap();
        document.change(at, Marker::TakenBack(before))
    });
    assert_eq!(set_markers(&done, &back).unwrap().unwrap(), text);
}

#[test]
fn a_box_that_is_neither_open_nor_done_is_held_and_told() {
    let text = "- [ ] 1. A\n- [-] 2. B\n  - [ ] 2.1 inside\n- [>] 3. C (depends: 2)\n";
    check(text, "1 [ ] A\n2 [ ] B\n3 [ ] C < 2");
    let document = pleach_formats::read(text);
    let holds: Vec<TaskHold> = document.plan.tasks.iter().map(|task| task.hold).collect();
    assert_eq!(
        holds,
        [TaskHold::None, TaskHold::Blocked, TaskHold::Blocked]
    );
    let lines: Vec<Option<u32>> = document.plan.warnings.iter().map(|w| w.line).collect();
    assert_eq!(lines, [Some(2), Some(4)]);
    let open = [document.change(1, Marker::Pending)];
    assert_eq!(
        set_markers(text, &open).unwrap().unwrap(),
        text.replace("[-]", "[ ]")
    );
}

#[test]
fn brackets_that_are_no_box_stay_text() {
    check(
        "- [a] letter\n- [-]glued\n- [1] note\n- [-](x.md) link\n- text\n\n  [~] not at the start\n- [ ] 1. real\n\n[1]: /one\n",
        "1 [ ] real",
    );
}

#[test]
fn a_phase_without_a_number_comes_after_those_before_it() {
    check(
        "## Phase 1: Base\n- [ ] T001 a\n## Phase 2: Story\n- [ ] T002 b\n- [ ] T002a c\n## Phase N: Polish\n- [ ] T003 d\n## Phase Dependencies\n- **Setup (Phase 1)**: none\n",
        "T001 [ ] a p1\nT002 [ ] b p2\nT002a [ ] c p2\nT003 [ ] d p3",
    );
    check(
        "## Phase A: Base\n- [ ] a\n## Phase B — Top\n- [ ] b\n### Phase A: again\n- [ ] c\n## Final Phase: Polish\n- [ ] d\n",
        "1 [ ] a p1\n2 [ ] b p2\n3 [ ] c p1\n4 [ ] d p3",
    );
    check(
        "## Phase 1: Base\n- [ ] a\n## Phase 1.5: Tests\n- [ ] b\n## Phase 2：Top\n- [ ] c\n",
        "1 [ ] a p1\n2 [ ] b p1\n3 [ ] c p2",
    );
}

#[test]
fn a_group_may_have_a_priority_and_a_task_by_name_keeps_its_steps() {
    check(
        "## 1. CRITICAL: Tests\n**Priority:** P0\n### 1.1 Collect\n- [ ] 1.1.1 Import\n- [ ] 1.1.2 Types\n",
        "1.1.1 [ ] Import\n1.1.2 [ ] Types",
    );
    check(
        "## 1. Tests\n**Status**: [PLANNED]\n- [ ] 1.1 Import\n## 2. Types\n**Dependencies**: 1\n- [ ] 2.1 All\n",
        "1 [ ] Tests\n2 [ ] Types < 1",
    );
    check("### Task 1.2: Parse\n- [ ] 1.2.1 words\n", "1.2 [ ] Parse");
}

#[test]
fn a_box_that_is_the_whole_of_others_beside_it_needs_them() {
    check(
        "- [ ] 1. Setup\n- [ ] 2. Models\n- [ ] 2.1 Types\n- [x] 2.2 User\n- [ ] 2.2.1 Name\n- [ ] 3. Store (depends: 2)\n- [ ] 3.1 Put (depends: 3)\n- [ ] 4.1 Alone\n",
        "1 [ ] Setup
         2 [ ] Models < 2.1 2.2
         2.1 [ ] Types
         2.2 [x] User < 2.2.1
         2.2.1 [ ] Name
         3 [ ] Store < 2
         3.1 [ ] Put < 3
         4.1 [ ] Alone",
    );
}

#[test]
fn boxes_without_an_id_are_one_warning() {
    let text = "- [ ] 1.1 a\n- [ ] b\n- [ ] c\n- [ ] d\n";
    let plan = pleach_formats::read(text).plan;
    assert_eq!(plan.warnings.len(), 1);
    assert_eq!(plan.warnings[0].line, Some(2));
}
