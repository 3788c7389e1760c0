//! Decides which of the gathered checkboxes and sections are tasks, and names them.
//!
//! Knows the whole file, but no longer its Markdown.

use std::collections::{HashMap, HashSet};

use compact_str::CompactString;
use pleach_domain::id::{PhaseNumber, TaskId};
use pleach_domain::plan::{Phase, Plan};
use pleach_domain::problem::{Code, Problem};
use pleach_domain::task::Task;

use super::Gathered;
use super::known::{Known, Needs};
use super::raw::{Kind, Raw, RawNeed};
use crate::{Document, Identity, TaskPlace};

impl Gathered {
    /// The phase of that number, made if it is new.
    pub(super) fn phase(&mut self, number: PhaseNumber) -> &mut Phase {
        let place = self.phases.partition_point(|phase| phase.number < number);
        if self
            .phases
            .get(place)
            .is_none_or(|phase| phase.number != number)
        {
            self.phases.insert(
                place,
                Phase {
                    number,
                    title: String::new(),
                    line: 0,
                    checks: Vec::new(),
                },
            );
        }
        &mut self.phases[place]
    }
}

/// Makes the plan of what was gathered.
pub(super) fn document(text: &str, gathered: Gathered) -> Document {
    let mut gathered = gathered;
    let kept = keep(&gathered.raws);
    give_to_tasks_around(&mut gathered.raws, &kept);
    let mut kept = kept.into_iter();
    gathered.raws.retain(|_| kept.next().unwrap_or(false));
    let criteria = take_criteria(&mut gathered);
    let mut raws = gathered.raws;
    let mut plan = Plan {
        phases: gathered.phases,
        tasks: Vec::with_capacity(raws.len()),
        warnings: criteria,
        ..Plan::default()
    };
    let identities = name_tasks(&mut raws, &mut plan);
    let written: Vec<Vec<RawNeed>> = raws
        .iter_mut()
        .map(|raw| std::mem::take(&mut raw.needs))
        .collect();
    let known = Known::new(&raws);
    let needs = raws.iter().zip(written);
    let mut needs: Vec<Needs> = needs
        .map(|(raw, written)| known.needs(raw.kind, written))
        .collect();
    for raw in &raws {
        known.add_blocking(raw, &mut needs, &mut plan.warnings);
    }
    for note in gathered.notes {
        known.add_sequence(note, &mut plan);
    }
    let mut places = Vec::with_capacity(raws.len());
    for ((raw, needs), identity) in raws.into_iter().zip(needs).zip(identities) {
        places.push(TaskPlace {
            mark: raw.mark.clone(),
            identity,
        });
        plan.tasks.push(task(text, raw, needs));
    }
    Document { plan, places }
}

/// Which of the gathered are tasks: not what stands inside another task, and not a heading that
/// merely groups tasks.
fn keep(raws: &[Raw]) -> Vec<bool> {
    let mut groups = vec![false; raws.len()];
    for raw in raws {
        let mut around = raw.parent;
        while let Some(section) = around {
            let own = &raws[section];
            let is_inner_task = match raw.kind {
                Kind::Section => raw.has_metadata,
                Kind::Checkbox => is_part_of_series(raw, own),
            };
            groups[section] |= is_inner_task && !own.has_metadata;
            around = own.parent;
        }
    }
    let mut kept: Vec<bool> = Vec::with_capacity(raws.len());
    for (place, raw) in raws.iter().enumerate() {
        let mut around = raw.parent;
        let mut inside = false;
        while let Some(section) = around {
            inside |= kept[section];
            around = raws[section].parent;
        }
        let is_heading_only = raw.needs_metadata && !raw.has_metadata;
        kept.push(!inside && !groups[place] && !is_heading_only);
    }
    kept
}

/// What stands inside a task is part of it, with the files and dependencies it names.
fn give_to_tasks_around(raws: &mut [Raw], kept: &[bool]) {
    for place in 0..raws.len() {
        let mut around = raws[place].parent;
        while let Some(section) = around.filter(|section| !kept[*section]) {
            around = raws[section].parent;
        }
        if let Some(section) = around.filter(|_| !kept[place]) {
            let needs = std::mem::take(&mut raws[place].needs);
            let files = std::mem::take(&mut raws[place].files);
            raws[section].needs.extend(needs);
            for file in files {
                raws[section].add_file(Some(&file));
            }
        }
    }
}

/// Makes checks of the boxes below "Success criteria" and the like, where tasks have ids.
fn take_criteria(gathered: &mut Gathered) -> Vec<Problem> {
    if gathered.raws.iter().all(|raw| raw.id.is_none()) {
        return Vec::new();
    }
    let is_criterion = |raw: &Raw| raw.is_criterion && raw.id.is_none();
    let taken: Vec<Raw> = gathered
        .raws
        .extract_if(.., |raw| is_criterion(raw))
        .collect();
    let Some(first) = taken.first().map(|raw| raw.line) else {
        return Vec::new();
    };
    let message = format!("{} checkboxes below criteria are no tasks", taken.len());
    for raw in taken {
        if let Some(phase) = raw.phase {
            gathered.phase(phase).checks.push(raw.title);
        }
    }
    let hint = "give them ids if they are tasks";
    vec![Problem::new(Code::NoId, message).at(first).hint(hint)]
}

/// Whether a checkbox is `2.1` in a section `2.`.
fn is_part_of_series(checkbox: &Raw, section: &Raw) -> bool {
    let (Some(id), Some(section)) = (&checkbox.id, &section.id) else {
        return false;
    };
    id.strip_prefix(section.as_str())
        .is_some_and(|rest| rest.starts_with('.'))
}

/// Gives tasks without an id the smallest free numbers, in order.
fn name_tasks(raws: &mut [Raw], plan: &mut Plan) -> Vec<Identity> {
    let taken: HashSet<CompactString> = raws.iter().filter_map(|raw| raw.id.clone()).collect();
    let mut texts: HashMap<String, u32> = HashMap::new();
    let mut number = 0_u32;
    let mut identities = Vec::with_capacity(raws.len());
    for raw in raws {
        if raw.id.is_some() {
            identities.push(Identity::WrittenId);
            continue;
        }
        identities.push(Identity::Text);
        let id = loop {
            number += 1;
            let id = number.to_string();
            if !taken.contains(id.as_str()) {
                break id;
            }
        };
        if let Some(first) = texts.get(&raw.title) {
            let message = format!(
                "the tasks at line {first} and line {} have the same text, {:?}",
                raw.line, raw.title
            );
            let problem = Problem::new(Code::DuplicateId, message)
                .at(raw.line)
                .hint("give them ids, or different texts")
                .about([TaskId::new(&id)]);
            if taken.is_empty() {
                plan.errors.push(problem);
            } else {
                plan.warnings.push(problem);
            }
        } else {
            texts.insert(raw.title.clone(), raw.line);
        }
        if !taken.is_empty() {
            let message = format!(
                "the checkbox at line {} has no id; it is task {id}",
                raw.line
            );
            plan.warnings.push(
                Problem::new(Code::NoId, message)
                    .at(raw.line)
                    .hint("write an id, or put it below **VERIFY Phase N:** if it is a check"),
            );
        }
        raw.id = Some(id.into());
    }
    identities
}

fn task(text: &str, raw: Raw, needs: Needs) -> Task {
    let id = raw.id.expect("every task was named");
    let body = text.get(raw.body).unwrap_or("");
    Task {
        title: if raw.title.is_empty() {
            id.to_string()
        } else {
            raw.title
        },
        id: TaskId::new(id),
        details: match raw.kind {
            Kind::Section => body.trim().to_owned(),
            Kind::Checkbox => dedented(body),
        },
        status: raw.status,
        phase: raw.phase,
        needs: needs.tasks,
        files: raw.files,
        priority: raw.priority,
        effort: raw.effort,
        labels: raw.labels,
        notes: needs.notes,
        line: raw.line,
    }
}

/// The text without the indentation that all its lines share.
fn dedented(body: &str) -> String {
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let lines = || body.lines().filter(|line| !line.trim().is_empty());
    let Some(shared) = lines().map(indent).min() else {
        return String::new();
    };
    let mut text = String::with_capacity(body.len());
    for line in body.lines() {
        text.push_str(line.get(shared..).unwrap_or("").trim_end());
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text
}
