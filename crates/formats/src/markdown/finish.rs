//! Decides which of the gathered checkboxes and sections are tasks, and names them.
//!
//! Knows the whole file, but no longer its Markdown.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use compact_str::CompactString;
use pleach_domain::id::{PhaseNumber, TaskId};
use pleach_domain::plan::{Phase, Plan};
use pleach_domain::problem::{Problem, ProblemCode};
use pleach_domain::task::{Task, TaskHold};

use super::Gathered;
use super::candidate::{CandidateKind, Claim, RawNeed, TaskCandidate};
use super::leading_id::lookalike;
use super::phase_label::is_criteria_label;
use super::task_index::{TaskIndex, TaskNeeds};
use super::title::without_id;
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

pub(super) fn document(text: &str, gathered: Gathered) -> Document {
    let mut gathered = gathered;
    let kept = tasks_among(&mut gathered.raws);
    give_to_tasks_around(&mut gathered.raws, &kept);
    let mut kept = kept.into_iter();
    gathered.raws.retain(|_| kept.next().unwrap_or(false));
    let criteria = take_criteria(&mut gathered);
    let mut raws = gathered.raws;
    take_bare_numbers(&mut raws);
    let mut warnings = criteria;
    warnings.extend(unclear_boxes(&raws));
    let mut plan = Plan {
        phases: gathered.phases,
        tasks: Vec::with_capacity(raws.len()),
        warnings,
        ..Plan::default()
    };
    let identities = name_tasks(&mut raws, &mut plan);
    let written: Vec<Vec<RawNeed>> = raws
        .iter_mut()
        .map(|raw| std::mem::take(&mut raw.needs))
        .collect();
    let known = TaskIndex::new(&raws);
    let needs = raws.iter().zip(written);
    let mut needs: Vec<TaskNeeds> = needs
        .map(|(raw, written)| known.needs(raw.kind, written))
        .collect();
    for raw in &raws {
        known.add_blocking(raw, &mut needs, &mut plan.warnings);
    }
    known.add_parts(&identities, &mut needs);
    for note in gathered.notes {
        known.add_sequence(note, &mut plan);
    }
    let mut places = Vec::with_capacity(raws.len());
    for ((raw, needs), identity) in raws.into_iter().zip(needs).zip(identities) {
        places.push(TaskPlace {
            mark: raw.mark.clone(),
            nested: raw.nested.clone(),
            identity,
        });
        plan.tasks.push(task(text, raw, needs));
    }
    Document { plan, places }
}

/// Which of the gathered are tasks; where most sections say how far they are, one that does not is a heading.
fn tasks_among(raws: &mut [TaskCandidate]) -> Vec<bool> {
    let sections = raws
        .iter_mut()
        .filter(|raw| raw.kind == CandidateKind::Section);
    for raw in sections.filter(|raw| raw.is_criterion) {
        raw.claim = Claim::Metadata;
    }
    let kept = keep(raws);
    let kept = if drop_chapters(raws, &kept) {
        keep(raws)
    } else {
        kept
    };
    let is_section =
        |(raw, kept): &(&TaskCandidate, &bool)| raw.kind == CandidateKind::Section && **kept;
    let sections = || raws.iter().zip(&kept).filter(is_section);
    let with_status = sections().filter(|(raw, _)| raw.has_status).count();
    let without = sections().count() - with_status;
    if without == 0 || with_status < without {
        return kept;
    }
    for raw in raws
        .iter_mut()
        .filter(|raw| raw.kind == CandidateKind::Section)
    {
        // One that names dependencies or files is a task whose Status line was forgotten.
        if !raw.has_status && !raw.has_metadata {
            raw.claim = Claim::Nothing;
        }
    }
    keep(raws)
}

/// Takes sections for chapters that are merely numbered, where others have the word Task, and
/// outside of the phases where boxes of phases are the tasks; whether there were any.
fn drop_chapters(raws: &mut [TaskCandidate], kept: &[bool]) -> bool {
    let tasks = || raws.iter().zip(kept).filter(|(_, kept)| **kept);
    let has_task_words = tasks().any(|(raw, _)| raw.claim == Claim::TaskWord);
    let has_phases = tasks().any(|(raw, _)| {
        raw.kind == CandidateKind::Checkbox && raw.phase.is_some() && !raw.is_criterion
    });
    let mut found = false;
    for raw in raws.iter_mut().filter(|raw| raw.is_merely_numbered()) {
        if has_task_words || (has_phases && raw.phase.is_none()) {
            raw.claim = Claim::Nothing;
            found = true;
        }
    }
    for place in 0..raws.len() {
        let around = raws[place].parent.map(|section| &raws[section]);
        let is_checked = |around: &TaskCandidate| {
            around.claim == Claim::Nothing
                && (around.is_criterion || is_criteria_label(&around.title))
        };
        raws[place].is_criterion |= around.is_some_and(is_checked);
    }
    found
}

/// Which of the gathered are tasks: not what stands inside another task, and not a heading that
/// merely groups tasks.
fn keep(raws: &[TaskCandidate]) -> Vec<bool> {
    let mut groups = vec![false; raws.len()];
    for raw in raws {
        let mut around = raw.parent;
        while let Some(section) = around {
            let own = &raws[section];
            groups[section] |= match raw.kind {
                CandidateKind::Section => raw.has_metadata && !own.has_metadata,
                CandidateKind::Checkbox if is_part_of_series(raw, own) => !own.is_surely_a_task(),
                CandidateKind::Checkbox => {
                    let is_in_phase = own.claim == Claim::Chapter && raw.phase.is_some();
                    is_in_phase && !raw.is_criterion && !own.has_metadata
                }
            };
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
        let is_heading_only = match raw.claim {
            Claim::TaskWord | Claim::Task | Claim::Chapter => false,
            Claim::Metadata => !raw.has_metadata,
            Claim::Nothing => true,
        };
        kept.push(!inside && !groups[place] && !is_heading_only);
    }
    kept
}

/// What stands inside a task is part of it, with the files and dependencies it names.
fn give_to_tasks_around(raws: &mut [TaskCandidate], kept: &[bool]) {
    for place in 0..raws.len() {
        let mut around = raws[place].parent;
        while let Some(section) = around.filter(|section| !kept[*section]) {
            around = raws[section].parent;
        }
        if let Some(section) = around.filter(|_| !kept[place]) {
            let needs = std::mem::take(&mut raws[place].needs);
            let files = std::mem::take(&mut raws[place].files);
            let mentions = std::mem::take(&mut raws[place].mentions);
            let size = raws[place].size.take();
            raws[section].needs.extend(needs);
            raws[section].add_size(size, 0);
            for path in mentions {
                raws[section].add_mention(&path);
            }
            for file in files {
                raws[section].add_file(Some(&file));
            }
        }
    }
}

/// Makes checks of the boxes below "Success criteria" and the like, where there are tasks beside them.
fn take_criteria(gathered: &mut Gathered) -> Vec<Problem> {
    let is_criterion =
        |raw: &TaskCandidate| raw.is_criterion && raw.kind == CandidateKind::Checkbox;
    if gathered.raws.iter().all(is_criterion) {
        return Vec::new();
    }
    let taken: Vec<TaskCandidate> = gathered
        .raws
        .extract_if(.., |raw| is_criterion(raw))
        .collect();
    let Some(first) = taken.first().map(|raw| raw.line) else {
        return Vec::new();
    };
    let message = match taken.len() {
        1 => "1 checkbox below criteria is a check, not a task".to_owned(),
        many => format!("{many} checkboxes below criteria are checks, not tasks"),
    };
    for raw in taken {
        if let Some(phase) = raw.phase {
            gathered.phase(phase).checks.push(raw.written);
        }
    }
    let hint = "if they are tasks, put them below another heading";
    vec![
        Problem::new(ProblemCode::NoId, message)
            .at(first)
            .hint(hint),
    ]
}

/// Takes the numbers that boxes open with as ids, where most boxes open with one.
fn take_bare_numbers(raws: &mut [TaskCandidate]) {
    let begins_with_number = |raw: &TaskCandidate| match &raw.id {
        Some(id) => id.starts_with(|c: char| c.is_ascii_digit()),
        None => raw.bare_number.is_some(),
    };
    let boxes = || {
        raws.iter()
            .filter(|raw| raw.kind == CandidateKind::Checkbox)
    };
    let numbered = boxes().filter(|raw| begins_with_number(raw)).count();
    if numbered * 2 <= boxes().count() {
        return;
    }
    for raw in raws.iter_mut().filter(|raw| raw.id.is_none()) {
        let Some(id) = raw.bare_number.take() else {
            continue;
        };
        let title = raw.title.strip_prefix(id.as_str()).unwrap_or(&raw.title);
        raw.title = title.trim_start().to_owned();
        raw.written = without_id(&raw.written, &id);
        raw.id = Some(id);
    }
}

/// Warns of boxes whose mark means different things to different people.
fn unclear_boxes(raws: &[TaskCandidate]) -> impl Iterator<Item = Problem> {
    let is_held =
        |raw: &&TaskCandidate| raw.kind == CandidateKind::Checkbox && raw.hold == TaskHold::Blocked;
    raws.iter().filter(is_held).map(|raw| {
        let message = format!("the checkbox at line {} is neither open nor done", raw.line);
        let hint = "write [ ] or [x]; until then the task runs only if selected by its id";
        Problem::new(ProblemCode::Blocked, message)
            .at(raw.line)
            .hint(hint)
    })
}

/// Whether a checkbox is `2.1` in a section `2.`.
fn is_part_of_series(checkbox: &TaskCandidate, section: &TaskCandidate) -> bool {
    let (Some(id), Some(section)) = (&checkbox.id, &section.id) else {
        return false;
    };
    id.strip_prefix(section.as_str())
        .is_some_and(|rest| rest.starts_with('.'))
}

/// Gives tasks without an id the smallest free numbers, in order.
fn name_tasks(raws: &mut [TaskCandidate], plan: &mut Plan) -> Vec<Identity> {
    if raws.iter().all(|raw| raw.id.is_some()) {
        return vec![Identity::WrittenId; raws.len()];
    }
    let taken: HashSet<CompactString> = raws.iter().filter_map(|raw| raw.id.clone()).collect();
    let mut texts: HashMap<String, u32> = HashMap::new();
    let mut number = 0_u32;
    let mut loose = Vec::new();
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
            let problem = Problem::new(ProblemCode::DuplicateId, message)
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
        if let Some(word) = lookalike(&raw.title) {
            plan.warnings.push(not_an_id(word, raw.line, &id));
        } else if !taken.is_empty() {
            loose.push((raw.line, id.clone()));
        }
        raw.id = Some(id.into());
    }
    plan.warnings.extend(without_id_warning(&loose));
    identities
}

/// One warning for all boxes without an id in a plan with ids.
fn without_id_warning(loose: &[(u32, String)]) -> Option<Problem> {
    let ((line, id), others) = loose.split_first()?;
    let message = match others {
        [] => format!("the checkbox at line {line} has no id; it is task {id}"),
        [.., (last_line, last)] => format!(
            "{} checkboxes from line {line} to line {last_line} have no id; they are tasks {id} to {last}",
            loose.len()
        ),
    };
    let hint = "write an id, or if it is a check, put it below **VERIFY Phase N:**";
    Some(
        Problem::new(ProblemCode::NoId, message)
            .at(*line)
            .hint(hint),
    )
}

/// A box opens with what looks like an id and is none.
fn not_an_id(word: &str, line: u32, id: &str) -> Problem {
    let message = format!("{word} at line {line} is not recognized as an id; it is task {id}");
    let digits: String = word.chars().filter(char::is_ascii_digit).collect();
    let hint = format!(
        "for an id write {digits}., #{digits}, **{digits}**, T{digits:0>3} or AUTH-{digits}"
    );
    Problem::new(ProblemCode::NoId, message).at(line).hint(hint)
}

fn task(text: &str, raw: TaskCandidate, needs: TaskNeeds) -> Task {
    let id = raw.id.expect("every task was named");
    let body = text.get(raw.body.clone()).unwrap_or("");
    let is_other = !raw.written.is_empty() && raw.written != raw.title;
    Task {
        markdown: is_other.then_some(raw.written),
        mentions: raw.mentions,
        hold: raw.hold,
        title: if raw.title.is_empty() {
            id.to_string()
        } else {
            raw.title
        },
        id: TaskId::new(id),
        details: match raw.kind {
            CandidateKind::Section => without_lines(text, &raw.body, &raw.metadata_lines),
            CandidateKind::Checkbox => dedented(body),
        },
        status: raw.status,
        phase: raw.phase,
        needs: needs.tasks,
        files: raw.files,
        priority: raw.priority,
        effort: raw.effort,
        size: raw.size,
        labels: raw.labels,
        notes: needs.notes,
        line: raw.line,
    }
}

/// A part of the text without some of its lines, each with the bullet before it.
fn without_lines(text: &str, part: &Range<usize>, lines: &[Range<usize>]) -> String {
    let mut kept = String::with_capacity(part.len());
    let mut at = part.start;
    for line in lines.iter().filter(|line| part.start <= line.start) {
        let begin = text[..line.start].rfind('\n').map_or(0, |at| at + 1);
        let bullet = text[begin..line.start].trim();
        let is_bullet = matches!(bullet, "" | "-" | "*" | "+");
        let begin = if is_bullet { begin } else { line.start };
        kept.push_str(text.get(at..begin).unwrap_or_default());
        let is_whole = text[..line.end].ends_with('\n');
        let rest = text[line.end..].find('\n').map(|at| at + 1);
        at = match rest.filter(|_| !is_whole) {
            Some(rest) => line.end + rest,
            None => line.end,
        };
    }
    kept.push_str(text.get(at..part.end).unwrap_or_default());
    kept.trim().to_owned()
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
