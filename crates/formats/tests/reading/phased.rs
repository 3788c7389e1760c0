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
