//! `pleach doctor`: whether everything is there that a run needs, and what to do about what is not.

use anstyle::{AnsiColor, Style};
use pleach_engine::doctor::{
    CheckLevel, DoctorCheck, DoctorScope, ExamineNode, NodeReport, NodeVisit, examine,
};
use pleach_engine::fault::Faults;
use serde_json::json;

use super::run::own_program;
use crate::args::DoctorArgs;
use crate::columns::padded;
use crate::failure::{Exit, Failures};
use crate::output::{self, Reader, one_line};
use crate::plan_source::current_folder;

const GREEN: Style = AnsiColor::Green.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();
const RED: Style = AnsiColor::Red.on_default();
const CYAN: Style = AnsiColor::Cyan.on_default();

pub(crate) fn run(arguments: &DoctorArgs, examine_node: ExamineNode) -> Result<Exit, Failures> {
    let reader = Reader::from_flag(arguments.json);
    let told_to = |failures: Failures| failures.told_to(reader);
    let folder = current_folder().map_err(told_to)?;
    let program = own_program().map_err(told_to)?;
    let reach = if arguments.fetch {
        DoctorScope::Server
    } else {
        DoctorScope::Nowhere
    };
    let mut reports = vec![NodeReport {
        node: None,
        findings: examine(&folder, &program, reach, arguments.place),
    }];
    if let Some(place) = arguments.place {
        let visit = NodeVisit::prepare(&folder, &program, place);
        reports.push(match visit {
            Ok(None) => NodeReport::default(),
            Ok(Some(visit)) => examine_node(&visit, &mut |line| tell_waiting(reader, line)),
            Err(faults) => NodeReport {
                node: None,
                findings: vec![impossible(&faults)],
            },
        });
    }
    let all = reports.iter().flat_map(|report| &report.findings);
    let worst = all.map(|finding| finding.level).max();
    if arguments.json {
        print_json(&reports);
    } else {
        print(&reports);
    }
    Ok(match worst {
        Some(CheckLevel::Error) => Exit::Environment,
        _ => Exit::Success,
    })
}

/// What keeps a node from being looked at.
fn impossible(faults: &Faults) -> DoctorCheck {
    let fault = faults.first();
    let fix = fault.hint.clone().unwrap_or_default();
    DoctorCheck::error(fault.code, fault.message.clone(), fix)
}

/// Somebody sits there and waits.
fn tell_waiting(reader: Reader, line: &str) {
    if reader == Reader::Person {
        output::tell_error(format_args!("  {}\n", one_line(line)));
    }
}

fn print(reports: &[NodeReport]) {
    let findings: Vec<&DoctorCheck> = reports.iter().flat_map(|report| &report.findings).collect();
    let width = findings.iter().map(|finding| finding.topic.len()).max();
    let width = width.unwrap_or(0);
    for report in reports {
        if let Some(node) = &report.node {
            output::print(format_args!("\non {}\n", one_line(node)));
        }
        print_each(&report.findings, width);
    }
    let count = |level: CheckLevel| {
        let of_level = findings.iter().filter(|finding| finding.level == level);
        of_level.count()
    };
    let line = match (count(CheckLevel::Error), count(CheckLevel::Warning)) {
        (0, 0) => "Ready to run.".to_owned(),
        (0, 1) => "Ready to run, with 1 warning.".to_owned(),
        (0, warnings) => format!("Ready to run, with {warnings} warnings."),
        (1, _) => "1 problem.".to_owned(),
        (errors, _) => format!("{errors} problems."),
    };
    output::print(format_args!("\n{line}\n"));
}

fn print_each(findings: &[DoctorCheck], width: usize) {
    for finding in findings {
        let (style, sign) = match finding.level {
            CheckLevel::Fine => (GREEN, '✓'),
            CheckLevel::Warning => (YELLOW, '!'),
            CheckLevel::Error => (RED, '✗'),
        };
        let topic = padded(&finding.topic, width);
        let message = one_line(&finding.message);
        output::print(format_args!("{style}{sign}{style:#} {topic}  {message}\n"));
        if let Some(fix) = &finding.fix {
            let (indent, fix) = (" ".repeat(width + 4), one_line(fix));
            output::print(format_args!("{indent}{CYAN}{fix}{CYAN:#}\n"));
        }
    }
}

fn print_json(reports: &[NodeReport]) {
    let found = reports.iter().flat_map(|report| {
        let findings = report.findings.iter();
        findings.map(|finding| (&report.node, finding))
    });
    let all: Vec<_> = found
        .map(|(node, finding)| {
            let level = match finding.level {
                CheckLevel::Fine => "ok",
                CheckLevel::Warning => "warning",
                CheckLevel::Error => "error",
            };
            json!({
                "node": node,
                "topic": finding.topic,
                "level": level,
                "message": finding.message,
                "fix": finding.fix,
            })
        })
        .collect();
    let text = serde_json::to_string_pretty(&json!({ "findings": all }));
    let text = text.expect("it is plain data");
    output::print(format_args!("{text}\n"));
}
