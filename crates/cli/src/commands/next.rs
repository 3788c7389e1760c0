//! `pleach next`: what to do now.

use anstyle::{AnsiColor, Style};
use pleach_domain::graph::Graph;
use pleach_domain::next::{NextRules, Offer, RuleUse, next};
use pleach_domain::plan::Plan;
use pleach_log::outlook::Recall;
use serde::Serialize;

use crate::args::NextArgs;
use crate::failure::{Exit, Failure, Failures, warn};
use crate::output::{self, Reader, one_line};
use crate::plan_source::PlanSource;
use crate::plan_states::{recall_states, recorded_plan};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const RED: Style = AnsiColor::Red.on_default();

pub(crate) fn run(arguments: &NextArgs) -> Result<Exit, Failures> {
    answer(arguments).map_err(|failures| failures.told_to(Reader::from_flag(arguments.json)))
}

fn answer(arguments: &NextArgs) -> Result<Exit, Failures> {
    if arguments.count == 0 {
        let failure = Failure::new(
            Exit::Usage,
            "bad_selection",
            "the number of tasks must be at least 1",
        );
        return Err(failure.hint("for example: pleach next 3").into());
    }
    let (plan, name) = load(arguments)?;
    let graph = Graph::new(&plan, arguments.rules.strictness());
    let rules = NextRules {
        dependencies: rule(arguments.ignore_deps),
        conflicts: rule(arguments.ignore_conflicts),
        threshold: arguments.rules.threshold()?,
    };
    let offers = next(&graph, arguments.count, rules);
    if offers.is_empty() {
        let errors = graph
            .errors()
            .iter()
            .map(|problem| Failure::of_plan(problem, &name));
        Failures::check(errors.collect())?;
    }
    warn(graph.errors().iter().chain(graph.warnings()), &name);
    if arguments.json {
        let report = NextReport::new(&graph, &offers);
        let text = serde_json::to_string_pretty(&report).expect("the report is plain data");
        output::print(format_args!("{text}\n"));
    } else {
        print(&graph, &offers);
    }
    Ok(Exit::Success)
}

fn rule(ignored: bool) -> RuleUse {
    if ignored {
        RuleUse::Ignored
    } else {
        RuleUse::Respected
    }
}

/// The plan with the states that count, and the file to name in messages.
fn load(arguments: &NextArgs) -> Result<(Plan, String), Failures> {
    let Some(status) = &arguments.status else {
        let mut source = PlanSource::load(arguments.plan.as_deref())?;
        recall_states(&mut source, Recall::ForNext)?;
        let name = source.name();
        return Ok((source.document.plan, name));
    };
    let plan = recorded_plan(arguments.plan.as_deref(), status)?;
    Ok((plan, status.display().to_string()))
}

fn print(graph: &Graph<'_>, offers: &[Offer]) {
    if offers.is_empty() {
        let open = graph.open_members().iter().filter(|open| **open).count();
        match open {
            0 => output::print(format_args!("All tasks are done.\n")),
            _ => output::print(format_args!(
                "No task can start now; {open} are waiting. `pleach plan` shows what for.\n"
            )),
        }
        return;
    }
    let sequences = graph.plan().sequence_of_task();
    for offer in offers {
        let task = graph.task(offer.position);
        output::print(format_args!(
            "{BOLD}{}{BOLD:#}  {}\n",
            one_line(task.id.as_str()),
            one_line(&task.title)
        ));
        let mut facts = vec![offer.reason.as_str().to_owned()];
        facts.extend(task.phase.map(|phase| format!("phase {phase}")));
        if let Some(sequence) = sequences.get(&task.id) {
            facts.push(format!("one of {}, in order", sequence.group));
        }
        output::print(format_args!("    {DIM}{}{DIM:#}\n", facts.join(" · ")));
        let open: Vec<&str> = graph
            .open_needs(offer.position)
            .map(|need| graph.task(need).id.as_str())
            .collect();
        if !open.is_empty() {
            output::print(format_args!(
                "    {RED}still needs {}{RED:#}\n",
                open.join(", ")
            ));
        }
    }
}

#[derive(Serialize)]
struct NextReport<'a> {
    count: usize,
    tasks: Vec<NextEntry<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NextEntry<'a> {
    id: &'a str,
    description: &'a str,
    phase: u32,
    status: &'static str,
    reason: &'static str,
    sequential: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    sequential_group: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sequential_reason: Option<&'a str>,
    dependencies: Vec<&'a str>,
    blocked_by: Vec<&'a str>,
}

impl<'a> NextReport<'a> {
    fn new(graph: &Graph<'a>, offers: &[Offer]) -> Self {
        let sequences = graph.plan().sequence_of_task();
        let entry = |offer: &Offer| {
            let task = graph.task(offer.position);
            let sequence = sequences.get(&task.id);
            NextEntry {
                id: task.id.as_str(),
                description: &task.title,
                phase: task.phase.map_or(0, |phase| phase.0),
                status: task.status.as_str(),
                reason: offer.reason.as_str(),
                sequential: sequence.is_some(),
                sequential_group: sequence.map(|sequence| sequence.group.as_str()),
                sequential_reason: sequence.map(|sequence| sequence.reason.as_str()),
                dependencies: task.needs.iter().map(|need| need.on.as_str()).collect(),
                blocked_by: graph
                    .open_needs(offer.position)
                    .map(|need| graph.task(need).id.as_str())
                    .collect(),
            }
        };
        Self {
            count: offers.len(),
            tasks: offers.iter().map(entry).collect(),
        }
    }
}
