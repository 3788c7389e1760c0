//! Phased plans.

use crate::check;

const PLAN: &str = "\
# Plan

## Phase 1: Ground

- [x] 1.1 Dig
- [ ] 1.2 Pour `site/floor.md`

**VERIFY Phase 1:**
- [ ] the floor is dry
- [ ] nobody fell
- [ ] 1.9 still a task

## Phase 2: Walls

**Execution Note:** Tasks 2.1-2.3 are [SEQUENTIAL] - all modify same file

- [ ] 2.1 North
- [ ] 2.2 South (depends: 1.2)
- [ ] 2.3 West

## Phase 3: Roof [SEQUENTIAL]

- [ ] 3.1 Beams
- [ ] 3.2 Tiles

## Notes

- [ ] 9.9 loose
";

#[test]
fn phases_tasks_checks_and_notes_are_told_apart() {
    check(
        PLAN,
        "1.1 [x] Dig p1
         1.2 [ ] Pour site/floor.md p1 @ site/floor.md
         1.9 [ ] still a task p1
         2.1 [ ] North p2
         2.2 [ ] South p2 < 1.2
         2.3 [ ] West p2
         3.1 [ ] Beams p3
         3.2 [ ] Tiles p3
         9.9 [ ] loose",
    );
    let plan = pleach_formats::read(PLAN).plan;
    let phases: Vec<(u32, &str, u32)> = plan
        .phases
        .iter()
        .map(|phase| (phase.number.0, phase.title.as_str(), phase.line))
        .collect();
    assert_eq!(
        phases,
        [(1, "Ground", 3), (2, "Walls", 13), (3, "Roof", 21)]
    );
    assert_eq!(plan.phases[0].checks, ["the floor is dry", "nobody fell"]);
    let sequences: Vec<(&str, &str, usize, u32)> = plan
        .sequences
        .iter()
        .map(|s| (s.group.as_str(), s.reason.as_str(), s.tasks.len(), s.line))
        .collect();
    assert_eq!(
        sequences,
        [
            ("2.1-2.3", "all modify same file", 3, 15),
            ("3.1-3.2", "", 2, 21)
        ]
    );
    assert!(plan.errors.is_empty() && plan.warnings.is_empty());
}

#[test]
fn labels_right_below_a_task_are_no_part_of_it() {
    let text = "## Phase 2: Walls\n- [ ] 2.1 North\n**VERIFY Phase 2:**\n- [ ] it stands\n- [ ] 2.2 South\n**Execution Note:** Task 2.2 is [SEQUENTIAL]\n";
    check(text, "2.1 [ ] North p2\n2.2 [ ] South p2");
    let plan = pleach_formats::read(text).plan;
    assert_eq!(plan.phases[0].checks, ["it stands"]);
    assert_eq!(plan.sequences[0].group, "2.2");
    assert_eq!(plan.sequences[0].line, 6);
}

#[test]
fn a_phased_plan_needs_no_ids() {
    check(
        "## Phase 1: A\n- [ ] one\n## Phase 2: B\n- [ ] two\n",
        "1 [ ] one p1\n2 [ ] two p2",
    );
}

#[test]
fn a_note_about_a_stranger_is_a_warning() {
    let plan = pleach_formats::read(
        "- [ ] 1.1 A\n- [ ] 1.2 B\n\n**Execution Note:** Tasks 1.1, 1.2 and 1.7 are [SEQUENTIAL] (one file)\n",
    )
    .plan;
    assert_eq!(plan.sequences[0].tasks.len(), 2);
    assert_eq!(plan.sequences[0].reason, "one file");
    assert_eq!(
        plan.warnings[0].message,
        "the note names task 1.7, which is not in the plan"
    );
    assert_eq!(plan.warnings[0].line, Some(4));
}

#[test]
fn ranges_in_notes_may_have_spaces_and_words_and_stand_in_quotes() {
    for note in [
        "**Execution Note:** Tasks 3.1 - 3.4 are [SEQUENTIAL] - x",
        "**Execution Note:** Tasks 3.1 through 3.4 should be executed [SEQUENTIAL] - x",
        "> **Execution Note:** Tasks 3.1–3.4 are [SEQUENTIAL] - x",
        "**Execution Note:** All tasks are [SEQUENTIAL] - x",
    ] {
        let text = format!(
            "## Phase 3: P\n{note}\n\n- [ ] 3.1 A\n- [ ] 3.2 B\n- [ ] 3.3 C\n- [ ] 3.4 D\n"
        );
        let plan = pleach_formats::read(&text).plan;
        assert_eq!(plan.sequences.len(), 1, "{note}");
        assert_eq!(
            (
                plan.sequences[0].tasks.len(),
                plan.sequences[0].group.as_str()
            ),
            (4, "3.1-3.4"),
            "{note}"
        );
        assert!(plan.warnings.is_empty(), "{note}");
    }
}

#[test]
fn a_heading_about_the_open_phase_does_not_end_it() {
    check(
        "## Phase 2: Build\n### Phase 2 overview\n### Tasks\n- [ ] 2.1 A\n## Phase 3: Ship\n- [ ] 3.1 B\n",
        "2.1 [ ] A p2\n3.1 [ ] B p3",
    );
}

#[test]
fn verify_is_a_label_only_with_a_phase_or_a_colon() {
    check(
        "- [ ] VERIFY the login works\n",
        "1 [ ] VERIFY the login works",
    );
    let text = "## Phase 2: B\n- [ ] 2.1 A\n- [ ] **VERIFY Phase 2:**\n  - [ ] tests pass\n- [ ] **VERIFY:** it runs\n";
    check(text, "2.1 [ ] A p2");
    assert_eq!(
        pleach_formats::read(text).plan.phases[0].checks,
        ["tests pass", "it runs"]
    );
}

#[test]
fn criteria_are_checks_where_tasks_have_ids() {
    let text = "## Phase 1: A\n- [ ] 1.1 X\n### Success Criteria\n- [ ] Tests pass\n## Phase 2: B\n- [ ] 2.1 Y\n**Acceptance Criteria:**\n- [ ] Tests pass\n";
    check(text, "1.1 [ ] X p1\n2.1 [ ] Y p2");
    let plan = pleach_formats::read(text).plan;
    assert_eq!((plan.errors.len(), plan.warnings.len()), (0, 1));
    assert_eq!(plan.phases[1].checks, ["Tests pass"]);
    check(
        "## Success Criteria\n- [ ] Tests pass\n",
        "1 [ ] Tests pass",
    );
}
