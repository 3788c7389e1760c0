//! Reading plans: what becomes a task, and what does not.

mod as_written;
mod checklist;
mod in_the_wild;
mod json;
mod messy;
mod phased;
mod sections;
mod status_file;

use pleach_domain::plan::Plan;
use pleach_domain::task::TaskStatus;

/// One line a task: `id status title [phase] [< needs] [@ files]`.
fn table(plan: &Plan) -> String {
    let rows = plan.tasks.iter().map(|task| {
        let mut row = vec![format!("{} {} {}", task.id, mark(task.status), task.title)];
        row.extend(task.phase.map(|phase| format!("p{phase}")));
        if !task.needs.is_empty() {
            let needs: Vec<&str> = task.needs.iter().map(|need| need.on.as_str()).collect();
            row.push(format!("< {}", needs.join(" ")));
        }
        if !task.files.is_empty() {
            row.push(format!("@ {}", task.files.join(" ")));
        }
        row.join(" ")
    });
    rows.collect::<Vec<_>>().join("\n")
}

fn mark(status: TaskStatus) -> &'static str {
    match status {
        TaskStatus::Pending => "[ ]",
        TaskStatus::InProgress => "[~]",
        TaskStatus::Completed => "[x]",
        TaskStatus::Cancelled => "[-]",
        other => other.as_str(),
    }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let document = pleach_formats::read(text);
    let expected: Vec<&str> = expected
        .lines()
        .map(str::trim)
        .filter(|row| !row.is_empty())
        .collect();
    assert_eq!(table(&document.plan), expected.join("\n"));
    assert_eq!(document.plan.tasks.len(), document.places.len());
}
