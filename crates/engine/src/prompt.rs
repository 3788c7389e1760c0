//! What an agent is told.
//!
//! Text only: nothing of a task is ever part of a command line.

use std::fmt::Write as _;

use pleach_domain::plan::Plan;
use pleach_domain::task::Task;

/// The prompt of one task.
pub fn prompt(plan: &Plan, task: &Task, plan_file: &str) -> String {
    let mut text = format!("# Task {}: {}\n", task.id, task.title);
    let mut add = |part: &str| write!(text, "\n{part}\n").expect("writing to a string works");
    if !task.details.is_empty() {
        add(&task.details);
    }
    if let Some(phase) = plan
        .phases
        .iter()
        .find(|phase| Some(phase.number) == task.phase)
    {
        add(&format!(
            "This task is part of phase {}: {}",
            phase.number, phase.title
        ));
    }
    let checks = plan.acceptance(task);
    if !checks.is_empty() {
        let list: Vec<String> = checks.iter().map(|check| format!("- {check}")).collect();
        add(&format!(
            "When the phase is done, these hold:\n{}",
            list.join("\n")
        ));
    }
    if !task.files.is_empty() {
        add(&format!(
            "Files it is expected to touch: {}",
            task.files.join(", ")
        ));
    }
    add(&format!(
        "Work in the current folder, which is a git worktree of your own. Change what this task needs and \
         nothing else. You may commit, and need not. Leave {plan_file} as it is: it is marked for you."
    ));
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_prompt_says_what_is_wanted_and_how_it_is_judged() {
        let text = "## Phase 2: Walls\n- [ ] 2.1 North `wall.md`\n  of brick\n\n**VERIFY Phase 2:**\n- [ ] it stands\n";
        let plan = pleach_formats::read(text).plan;
        let prompt = super::prompt(&plan, &plan.tasks[0], "TODO.md");
        assert!(prompt.starts_with("# Task 2.1: North wall.md\n\nof brick\n"));
        for part in [
            "phase 2: Walls",
            "- it stands",
            "touch: wall.md",
            "Leave TODO.md",
        ] {
            assert!(prompt.contains(part), "{part}");
        }
    }
}
