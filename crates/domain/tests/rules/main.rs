//! The rules of plans and batches, told as stories.

#![expect(clippy::unwrap_used, reason = "tests say what is wrong by panicking")]

mod batches;
mod coming;
mod estimates;
mod failures;
mod graphs;
mod histories;
mod landings;
mod nexts;
mod people;
mod proofs;
mod properties;
mod selections;
mod stages;
mod stored;
mod story;

use pleach_domain::graph::{Graph, Strictness};
use pleach_domain::id::{PhaseNumber, TaskId};
use pleach_domain::plan::{Plan, Sequence};
use pleach_domain::task::{Dependency, Effort, IfUnknown, Priority, Task, TaskStatus};

/// A plan of one task a line: `id [status] [pN] [< needs…] [@ files…] [~minutes] [!priority]`.
fn plan(text: &str) -> Plan {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    Plan {
        tasks: lines
            .zip(1..)
            .map(|(line, number)| task(line, number))
            .collect(),
        ..Plan::default()
    }
}

fn task(line: &str, number: u32) -> Task {
    let mut words = line.split_whitespace();
    let id = words.next().unwrap();
    let mut task = Task::new(id, format!("title of {id}"), number);
    let mut list = "";
    for word in words {
        match word {
            "<" | "@" => list = word,
            "done" => task.status = TaskStatus::Completed,
            "begun" => task.status = TaskStatus::InProgress,
            "failed" => task.status = TaskStatus::Failed,
            "skipped" => task.status = TaskStatus::Skipped,
            _ if list == "<" => task.needs.push(Dependency {
                on: TaskId::new(word),
                line: number,
                if_unknown: IfUnknown::Error,
            }),
            _ if list == "@" => task.files.push(word.to_owned()),
            _ => match word.split_at(1) {
                ("p", phase) => task.phase = Some(PhaseNumber(phase.parse().unwrap())),
                ("~", minutes) => task.effort = Some(Effort(minutes.parse().unwrap())),
                ("!", priority) => task.priority = Priority::read(priority),
                _ => panic!("{word:?} means nothing here"),
            },
        }
    }
    task
}

fn sequence(plan: &mut Plan, group: &str, ids: &[&str]) {
    plan.sequences.push(Sequence {
        tasks: ids.iter().map(|id| TaskId::new(*id)).collect(),
        group: group.to_owned(),
        reason: "one file".to_owned(),
        line: 9,
    });
}

fn graph(plan: &Plan) -> Graph<'_> {
    Graph::new(plan, Strictness::AsWritten)
}

fn ids(graph: &Graph<'_>, positions: &[usize]) -> String {
    let ids: Vec<&str> = positions
        .iter()
        .map(|at| graph.task(*at).id.as_str())
        .collect();
    ids.join(" ")
}
