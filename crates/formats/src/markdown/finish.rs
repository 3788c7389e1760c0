//! Decides which of the gathered checkboxes and sections are tasks, and names them.
//!
//! Knows the whole file, but no longer its Markdown.

use std::collections::{HashMap, HashSet};

use compact_str::CompactString;
use pleach_domain::id::{IdRange, PhaseNumber, TaskId};
use pleach_domain::plan::{Phase, Plan, Sequence};
use pleach_domain::problem::{Code, Problem};
use pleach_domain::task::{Dependency, IfUnknown, Task};

use super::metadata::Named;
use super::raw::{Kind, Raw, RawNeed, RawNote};
use super::{Gathered, leading_id};
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
    let mut kept = keep(&gathered.raws).into_iter();
    let mut raws = gathered.raws;
    raws.retain(|_| kept.next().unwrap_or(false));
    let mut plan = Plan {
        phases: gathered.phases,
        tasks: Vec::with_capacity(raws.len()),
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
            plan.errors.push(
                Problem::new(Code::DuplicateId, message)
                    .at(raw.line)
                    .hint("give them ids, or different texts")
                    .about([TaskId::new(&id)]),
            );
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

#[derive(Debug, Default)]
struct Needs {
    tasks: Vec<Dependency>,
    notes: Vec<String>,
}

impl Needs {
    fn add(&mut self, need: Dependency) {
        if !self.tasks.iter().any(|known| known.on == need.on) {
            self.tasks.push(need);
        }
    }
}

/// The tasks of the file by their ids.
struct Known<'a> {
    ids: HashMap<&'a str, usize>,
    raws: &'a [Raw],
}

impl<'a> Known<'a> {
    fn new(raws: &'a [Raw]) -> Self {
        let mut ids = HashMap::with_capacity(raws.len());
        for (place, raw) in raws.iter().enumerate() {
            if let Some(id) = &raw.id {
                ids.entry(id.as_str()).or_insert(place);
            }
        }
        Self { ids, raws }
    }

    fn find(&self, id: &str) -> Option<&'a str> {
        let found = self.ids.get_key_value(id);
        let found = found.or_else(|| match id.strip_prefix('#') {
            Some(bare) => self.ids.get_key_value(bare),
            None => self.ids.get_key_value(format!("#{id}").as_str()),
        });
        found.map(|(id, _)| *id)
    }

    /// The known tasks that a word names: one, or those of a range.
    fn named_by(&self, word: &str) -> Vec<&'a str> {
        self.find(word)
            .map_or_else(|| self.range(word), |id| vec![id])
    }

    /// The known tasks of a range such as `61-63`, in plan order.
    fn range(&self, text: &str) -> Vec<&'a str> {
        let range = text
            .match_indices('-')
            .find_map(|(at, _)| IdRange::between(text[..at].trim(), text[at + 1..].trim()));
        let Some(range) = range else {
            return Vec::new();
        };
        let ids = self.raws.iter().filter_map(|raw| raw.id.as_deref());
        ids.filter(|id| range.contains(id)).collect()
    }

    fn needs(&self, kind: Kind, written: Vec<RawNeed>) -> Needs {
        let mut needs = Needs::default();
        let otherwise = match kind {
            Kind::Checkbox => IfUnknown::Error,
            Kind::Section => IfUnknown::TakenAsDone,
        };
        for RawNeed { named, line } in written {
            let mut add = |id: CompactString, if_unknown| {
                needs.add(Dependency {
                    on: TaskId::new(id),
                    line,
                    if_unknown,
                });
            };
            match (named, kind) {
                (Named::Task { id, said_done }, _) => {
                    let if_unknown = if said_done {
                        IfUnknown::SaidDone
                    } else {
                        otherwise
                    };
                    if self.ids.contains_key(id.as_str()) {
                        add(id, if_unknown);
                        continue;
                    }
                    let found = self.named_by(&id);
                    if found.is_empty() {
                        add(id, if_unknown);
                    }
                    for id in found {
                        add(id.into(), if_unknown);
                    }
                }
                // `(depends: …)` names tasks and nothing else.
                (Named::Words { text, .. }, Kind::Checkbox) => {
                    for id in text.split_whitespace() {
                        add(self.find(id).unwrap_or(id).into(), otherwise);
                    }
                }
                (Named::Words { text, mentions }, Kind::Section) => {
                    let found: Vec<&str> = mentions.iter().filter_map(|id| self.find(id)).collect();
                    for id in &found {
                        add((*id).into(), otherwise);
                    }
                    if found.is_empty() {
                        needs.notes.push(text);
                    }
                }
            }
        }
        needs
    }

    fn add_blocking(&self, raw: &Raw, needs: &mut [Needs], warnings: &mut Vec<Problem>) {
        let own = raw.id.as_deref().unwrap_or("");
        for blocked in &raw.blocking {
            let mentioned: Vec<&str> = match &blocked.named {
                Named::Task { id, .. } => vec![id],
                Named::Words { mentions, .. } => mentions.iter().map(String::as_str).collect(),
            };
            for id in mentioned {
                let found = self.named_by(id);
                if found.is_empty() {
                    let message =
                        format!("task {own} says that it blocks {id}, which is not in the plan");
                    warnings.push(Problem::new(Code::UnknownDependency, message).at(blocked.line));
                }
                for place in found.iter().filter_map(|id| self.ids.get(*id)) {
                    needs[*place].add(Dependency {
                        on: TaskId::new(own),
                        line: blocked.line,
                        if_unknown: IfUnknown::TakenAsDone,
                    });
                }
            }
        }
    }

    fn add_sequence(&self, note: RawNote, plan: &mut Plan) {
        let (tasks, group, reason, line) = match note {
            RawNote::OfTasks { statement, line } => {
                let tasks = self.group(&statement.group, line, &mut plan.warnings);
                (tasks, statement.group, statement.reason, line)
            }
            RawNote::OfPhase {
                number,
                reason,
                line,
            } => {
                let inside = self.raws.iter().filter(|raw| raw.phase == Some(number));
                let tasks: Vec<TaskId> = inside
                    .filter_map(|raw| raw.id.as_deref())
                    .map(TaskId::new)
                    .collect();
                let group = match tasks.as_slice() {
                    [first, .., last] => format!("{first}-{last}"),
                    _ => format!("phase {number}"),
                };
                (tasks, group, reason, line)
            }
        };
        if !tasks.is_empty() {
            plan.sequences.push(Sequence {
                tasks,
                group,
                reason,
                line,
            });
        }
    }

    fn group(&self, group: &str, line: u32, warnings: &mut Vec<Problem>) -> Vec<TaskId> {
        let mut tasks = Vec::new();
        let separators = |c: char| c == ',' || c == '&' || c.is_whitespace();
        for word in group
            .split(separators)
            .filter(|word| !matches!(*word, "" | "and" | "to" | "through"))
        {
            let found = self.named_by(word);
            if found.is_empty() && leading_id::is_id_shaped(word) {
                let message = format!("the note names task {word}, which is not in the plan");
                warnings.push(Problem::new(Code::TaskNotFound, message).at(line));
            }
            for id in found.into_iter().map(TaskId::new) {
                if !tasks.contains(&id) {
                    tasks.push(id);
                }
            }
        }
        tasks
    }
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
