//! `pleach plan`: shows a plan in one of five forms.

use std::path::{Path, PathBuf};

use pleach_domain::graph::{Graph, Order};
use pleach_domain::problem::{Problem, ProblemCode};
use pleach_engine::start::Chosen;
use serde::Serialize;

use crate::args::{Format, PlanArgs};
use crate::draw::{self, Picture, text::Detail};
use crate::failure::{Exit, Failures, warn};
use crate::output::{self, Reader};
use crate::pager;
use crate::plan_source::{PlanSource, check, choose};

/// Shows the plan; exit code 2 if anything is wrong with it.
pub(crate) fn run(arguments: &PlanArgs) -> Result<Exit, Failures> {
    let format = if arguments.json {
        Format::Json
    } else {
        arguments.format
    };
    show(arguments, format)
        .map_err(|failures| failures.told_to(Reader::from_flag(format == Format::Json)))
}

fn show(arguments: &PlanArgs, format: Format) -> Result<Exit, Failures> {
    let (file, words) = file_and_selection(arguments);
    let source = PlanSource::load(file.as_deref())?;
    let threshold = arguments.order.rules.threshold()?;
    let graph = Graph::new(&source.document.plan, arguments.order.rules.strictness());
    let chosen = if words.is_empty() {
        Chosen {
            tasks: (0..source.document.plan.tasks.len()).collect(),
            errors: graph.errors().to_vec(),
            warnings: graph.warnings().to_vec(),
            done: None,
        }
    } else {
        looked_at(choose(&graph, words, &arguments.order, threshold)?)
    };
    let mut members = vec![false; source.document.plan.tasks.len()];
    for position in &chosen.tasks {
        members[*position] = true;
    }
    let order = Order::new(&graph, &members, arguments.order.rules(threshold));
    let name = source.name();
    let picture = Picture {
        name: &name,
        graph: &graph,
        order: &order,
        chosen: &chosen.tasks,
    };
    if format == Format::Json {
        let report = PlanReport::new(&picture, &chosen);
        let text = serde_json::to_string_pretty(&report).expect("the report is plain data");
        output::print(format_args!("{text}\n"));
        return Ok(if chosen.errors.is_empty() {
            Exit::Success
        } else {
            Exit::Usage
        });
    }
    warn(&chosen.warnings, &name);
    if !chosen.tasks.is_empty() {
        print(&picture, format, arguments.all);
    }
    check(&chosen, &name)?;
    Ok(Exit::Success)
}

/// A phase that is not open can be looked at, though not run.
fn looked_at(mut chosen: Chosen) -> Chosen {
    let is_closed = |problem: &mut Problem| problem.code == ProblemCode::PhaseNotOpen;
    let closed: Vec<Problem> = chosen.errors.extract_if(.., is_closed).collect();
    chosen.warnings.splice(0..0, closed);
    chosen
}

/// The first word is the plan's file if it looks like one; a task would have to be named like a file.
fn file_and_selection(arguments: &PlanArgs) -> (Option<PathBuf>, &[String]) {
    let words = arguments.words.as_slice();
    if let Some(plan) = &arguments.plan {
        return (Some(plan.clone()), words);
    }
    match words.split_first() {
        Some((first, rest)) if is_file_name(first) => (Some(PathBuf::from(first)), rest),
        _ => (None, words),
    }
}

fn is_file_name(word: &str) -> bool {
    let path = Path::new(word);
    if word
        .split_once(':')
        .is_some_and(|(name, _)| ["phase", "p", "label", "next"].contains(&name))
    {
        return false;
    }
    let has_ending = path.extension().is_some_and(|ending| {
        ["md", "markdown", "json", "txt"]
            .iter()
            .any(|known| ending == *known)
    });
    has_ending || word.contains('/') || path.is_file()
}

fn print(picture: &Picture<'_>, format: Format, all: bool) {
    match format {
        Format::Text => {
            let width = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
            let detail = if all {
                Detail::Everything
            } else {
                Detail::Summary
            };
            pager::show(&draw::text::draw(picture, width, detail));
        }
        Format::Mermaid => output::print(format_args!("{}", draw::mermaid::draw(picture))),
        Format::Dot => output::print(format_args!("{}", draw::dot::draw(picture))),
        Format::Svg => output::print(format_args!("{}", draw::svg::draw(picture))),
        Format::Json => unreachable!("JSON is printed by its own way"),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PlanReport<'a> {
    tasks: Vec<TaskEntry<'a>>,
    waves: Vec<Vec<&'a str>>,
    critical_path: Vec<&'a str>,
    ordered: Vec<OrderedEntry<'a>>,
    errors: &'a [Problem],
    warnings: &'a [Problem],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TaskEntry<'a> {
    id: &'a str,
    title: &'a str,
    status: &'static str,
    phase: Option<u32>,
    depends_on: Vec<&'a str>,
    files: &'a [String],
    /// The size that it wants of a cluster's node, if it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<&'a str>,
    line: u32,
    wave: Option<u32>,
}

#[derive(Serialize)]
struct OrderedEntry<'a> {
    first: &'a str,
    then: &'a str,
    because: &'a str,
}

impl<'a> PlanReport<'a> {
    fn new(picture: &Picture<'a>, chosen: &'a Chosen) -> Self {
        let task = |position: usize| picture.graph.task(position);
        let id = |position: &usize| task(*position).id.as_str();
        let entry = |position: &usize| TaskEntry {
            id: id(position),
            title: &task(*position).title,
            status: task(*position).status.as_str(),
            phase: task(*position).phase.map(|phase| phase.0),
            depends_on: task(*position)
                .needs
                .iter()
                .map(|need| need.on.as_str())
                .collect(),
            files: &task(*position).files,
            size: task(*position).size.as_ref().map(|size| size.name.as_str()),
            line: task(*position).line,
            wave: picture.order.wave_of[*position],
        };
        let ordered = picture.order.ordered.iter().map(|pair| OrderedEntry {
            first: id(&pair.first),
            then: id(&pair.then),
            because: &pair.because,
        });
        Self {
            tasks: chosen.tasks.iter().map(entry).collect(),
            waves: picture
                .order
                .waves
                .iter()
                .map(|wave| wave.iter().map(id).collect())
                .collect(),
            critical_path: picture.order.critical_path.iter().map(id).collect(),
            ordered: ordered.collect(),
            errors: &chosen.errors,
            warnings: &chosen.warnings,
        }
    }
}
