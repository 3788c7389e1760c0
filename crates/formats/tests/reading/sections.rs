//! TODO sections.

use pleach_domain::task::Priority;
use pleach_formats::Mark;

use crate::check;

#[test]
fn sections_carry_their_metadata() {
    let text = "\
# TODO

### 61. Parse ✅
**Status**: [COMPLETED]

### 62. **Weave** it
- **Status**: [NOT STARTED]
- **Dependencies**: 61, Task 60 (completed)
- **Blocking**: 70
- **Priority**: High
- *Effort**: 2 hours
- **Files Affected**:
  - `src/weave.rs` - the loom
  - src/new.rs (new)
- a bullet

Some text on `docs/c.md`.

- [ ] a step, not a task

#### 1. A step in a heading

### 70. Land
**Status**: [IN PROGRESS]
**Dependencies**: Soundness (Complete)
";
    check(
        text,
        "61 [x] Parse
         62 [ ] Weave it < 61 60 @ src/weave.rs src/new.rs docs/c.md
         70 [~] Land < 62",
    );
    let plan = pleach_formats::read(text).plan;
    assert_eq!(plan.tasks[1].priority, Priority::High);
    assert_eq!(plan.tasks[1].effort.map(|effort| effort.0), Some(120));
    let details = "\
- **Files Affected**:
  - `src/weave.rs` - the loom
  - src/new.rs (new)
- a bullet

Some text on `docs/c.md`.

- [ ] a step, not a task

#### 1. A step in a heading";
    assert_eq!(plan.tasks[1].details, details, "without what is the plan's");
    assert_eq!(plan.tasks[2].details, "");
    assert_eq!(plan.tasks[2].notes, ["Soundness (Complete)"]);
    assert_eq!(plan.tasks[1].needs[0].line, 8);
    assert!(plan.errors.is_empty() && plan.warnings.is_empty());
}

#[test]
fn every_status_line_has_its_place() {
    let text = "### 1. A\n**Status**: [NOT STARTED] (soon)\n\n### 2. B\n- **Status:** PLANNED\n";
    let document = pleach_formats::read(text);
    let places: Vec<&str> = document
        .places
        .iter()
        .map(|place| match &place.mark {
            Mark::Status(at) => &text[at.clone()],
            _ => "",
        })
        .collect();
    assert_eq!(places, ["[NOT STARTED]", "PLANNED"]);
}

#[test]
fn a_numbered_heading_without_metadata_is_a_task_without_edges() {
    check(
        "## 1. Introduction\ntext\n## 2. Motivation\n### 2.1 Detail\n",
        "1 [ ] Introduction\n2 [ ] Motivation",
    );
}

#[test]
fn a_heading_that_groups_tasks_is_none() {
    check(
        "## 1. Layer one\n\n### 63. Real\n**Status**: [NOT STARTED]\n\n### 64. Also\n**Status**: [DONE]\n",
        "63 [ ] Real\n64 [x] Also",
    );
    check(
        "## 1. Setup\n- [x] 1.1 Init\n- [ ] 1.2 Config\n## 2. Build\n- [ ] 2.1 All\n",
        "1.1 [x] Init\n1.2 [ ] Config\n2.1 [ ] All",
    );
}

#[test]
fn a_section_ends_at_the_next_heading_of_its_level() {
    check(
        "### 1. A\n**Status**: [DONE]\n## Other\n- [ ] free\n",
        "1 [x] A\n2 [ ] free",
    );
}

#[test]
fn dependencies_may_be_a_list_below_their_key() {
    check(
        "### 1. A\n**Status**: [DONE]\n### 2. B\n**Dependencies**:\n- 1\n- Task 9 (later)\n\n**Status**: [PLANNED]\n",
        "1 [x] A\n2 [ ] B < 1 9",
    );
}

#[test]
fn a_rule_below_metadata_does_not_make_a_heading_of_it() {
    check(
        "### 1. A\n**Status**: [DONE]\n**Priority**: Low\n---\n### 2. B\n**Status**: [PLANNED]\n---\n",
        "1 [x] A\n2 [ ] B",
    );
}

#[test]
fn trackers_and_hashes_open_sections_too() {
    check(
        "### ENG-7: Fix\n**Status**: [PLANNED]\n### #12. Hash\n**Dependencies**: ENG-7\n### Task 5: Word\n**Dependencies**: #12, 12\n",
        "ENG-7 [ ] Fix\n#12 [ ] Hash < ENG-7\n5 [ ] Word < #12",
    );
}

#[test]
fn file_lists_with_verbs_name_their_files_and_nothing_else() {
    check(
        "### Task 1: Parser\n**Files:**\n- Create: `src/parser.rs`\n- Test: `tests/parser.rs`\n  - change the loop\n\n### Task 2: Writer\n**Files:**\n- Create: `src/writer.rs`\n",
        "1 [ ] Parser @ src/parser.rs tests/parser.rs\n2 [ ] Writer @ src/writer.rs",
    );
}

#[test]
fn checkboxes_of_a_section_give_it_their_files_and_dependencies() {
    check(
        "### 1. A\n**Status**: [DONE]\n### 3. C\n**Status**: [PLANNED]\n\n- [ ] Edit `src/d.rs` (depends: 1)\n",
        "1 [x] A\n3 [ ] C < 1 @ src/d.rs",
    );
}

#[test]
fn dependencies_are_found_however_they_are_joined() {
    let sections = "### 61. A\n### 62. B\n### 63. C\n### 70. D\n";
    for (written, needs) in [
        ("**Dependencies**: 61–63", "61 62 63"),
        ("**Dependencies**: 61 - 63", "61 62 63"),
        ("**Dependencies**: Tasks 61 through 63", "61 62 63"),
        ("**Dependencies**: 61 62", "61 62"),
        ("**Dependencies**: 61 + 62", "61 62"),
        ("**Dependencies**: 61/62", "61 62"),
        ("**Dependencies**: 61,\n62", "61 62"),
        ("**Dependencies**:\n61, 62", "61 62"),
        ("**Status**: [NOT STARTED] | **Dependencies**: 61", "61"),
    ] {
        let text = format!("{sections}{written}\n");
        let plan = pleach_formats::read(&text).plan;
        let found: Vec<&str> = plan.tasks[3]
            .needs
            .iter()
            .map(|need| need.on.as_str())
            .collect();
        assert_eq!(found.join(" "), needs, "{written}");
    }
}

#[test]
fn what_is_asked_has_no_metadata_of_the_plan_wherever_that_stands() {
    let text = "\
### 1. One
**Language**: lean
**Status**: [NOT STARTED] | **Effort**: 2 hours
**Priority**: High

Do this.

```
**Status**: [NOT STARTED]
```

> **Status**: quoted

**Dependencies**: None\r
Then that.
### 2. Two
**Status**: [PLANNED]";
    let plan = pleach_formats::read(text).plan;
    let details = "\
**Language**: lean

Do this.

```
**Status**: [NOT STARTED]
```

> **Status**: quoted

Then that.";
    assert_eq!(plan.tasks[0].details, details);
    assert_eq!(plan.tasks[1].details, "");
}
