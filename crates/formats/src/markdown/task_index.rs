//! Finds the tasks that dependencies and notes name.
//!
//! Knows the ids of the whole file; decides nothing about what is a task.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use compact_str::CompactString;
use pleach_domain::id::{IdRange, SeriesMember, TaskId};
use pleach_domain::plan::{Plan, Sequence};
use pleach_domain::problem::{Problem, ProblemCode};
use pleach_domain::task::{Dependency, IfUnknown};

use super::candidate::{CandidateKind, RawNeed, RawNote, TaskCandidate};
use super::metadata::DependencyPart;
use crate::Identity;

/// Up to so many dependencies are compared one by one.
const FEW: usize = 32;

#[derive(Debug, Default)]
pub(super) struct TaskNeeds {
    pub(super) tasks: Vec<Dependency>,
    /// The tasks again, once they are too many to look through.
    seen: HashSet<TaskId>,
    pub(super) notes: Vec<String>,
}

impl TaskNeeds {
    fn add(&mut self, need: Dependency) {
        let is_known = if self.tasks.len() < FEW {
            self.tasks.iter().any(|known| known.on == need.on)
        } else {
            if self.seen.is_empty() {
                self.seen
                    .extend(self.tasks.iter().map(|known| known.on.clone()));
            }
            !self.seen.insert(need.on.clone())
        };
        if !is_known {
            self.tasks.push(need);
        }
    }
}

pub(super) struct TaskIndex<'a> {
    /// Holds the ids themselves, which saves a look at far memory for each dependency.
    ids: HashMap<CompactString, usize>,
    raws: &'a [TaskCandidate],
    series: OnceCell<Series<'a>>,
}

/// For each series of ids the numbers in it, sorted, with the places of their tasks.
type Series<'a> = HashMap<&'a str, Vec<(u64, usize)>>;

fn series_of(raws: &[TaskCandidate]) -> Series<'_> {
    let mut series: Series<'_> = HashMap::new();
    for (place, raw) in raws.iter().enumerate() {
        if let Some(member) = raw.id.as_deref().and_then(SeriesMember::parse) {
            series
                .entry(member.series)
                .or_default()
                .push((member.number, place));
        }
    }
    for members in series.values_mut() {
        members.sort_unstable();
    }
    series
}

impl<'a> TaskIndex<'a> {
    pub(super) fn new(raws: &'a [TaskCandidate]) -> Self {
        let mut ids = HashMap::with_capacity(raws.len());
        for (place, raw) in raws.iter().enumerate() {
            if let Some(id) = &raw.id {
                ids.entry(id.clone()).or_insert(place);
            }
        }
        Self {
            ids,
            raws,
            series: OnceCell::new(),
        }
    }

    fn find(&self, id: &str) -> Option<&'a str> {
        let found = self.ids.get(id);
        let found = found.or_else(|| match id.strip_prefix('#') {
            Some(bare) => self.ids.get(bare),
            None => self.ids.get(format!("#{id}").as_str()),
        });
        found.and_then(|place| self.raws[*place].id.as_deref())
    }

    /// The known tasks that a word names: one, or those of a range.
    fn named_by(&self, word: &str) -> Vec<&'a str> {
        self.find(word)
            .map_or_else(|| self.range(word), |id| vec![id])
    }

    /// The known tasks of a range such as `61-63`, in plan order.
    fn range(&self, text: &str) -> Vec<&'a str> {
        let mut ends = text
            .match_indices('-')
            .map(|(at, _)| (&text[..at], &text[at + 1..]));
        let Some(range) =
            ends.find_map(|(first, last)| IdRange::between(first.trim(), last.trim()))
        else {
            return Vec::new();
        };
        let series = self.series.get_or_init(|| series_of(self.raws));
        let Some(members) = series.get(range.series()) else {
            return Vec::new();
        };
        let numbers = range.numbers();
        let start = members.partition_point(|(number, _)| number < numbers.start());
        let inside = members[start..]
            .iter()
            .take_while(|(number, _)| numbers.contains(number));
        let mut places: Vec<usize> = inside.map(|(_, place)| *place).collect();
        places.sort_unstable();
        places
            .iter()
            .filter_map(|place| self.raws[*place].id.as_deref())
            .collect()
    }

    pub(super) fn needs(&self, kind: CandidateKind, written: Vec<RawNeed>) -> TaskNeeds {
        let mut needs = TaskNeeds::default();
        let otherwise = match kind {
            CandidateKind::Checkbox => IfUnknown::Error,
            CandidateKind::Section => IfUnknown::TakenAsDone,
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
                (DependencyPart::Task { id, said_done }, _) => {
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
                (DependencyPart::Words { text, .. }, CandidateKind::Checkbox) => {
                    for id in text.split_whitespace() {
                        add(self.find(id).unwrap_or(id).into(), otherwise);
                    }
                }
                (DependencyPart::Words { text, mentions }, CandidateKind::Section) => {
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

    pub(super) fn add_blocking(
        &self,
        raw: &TaskCandidate,
        needs: &mut [TaskNeeds],
        warnings: &mut Vec<Problem>,
    ) {
        let own = raw.id.as_deref().unwrap_or("");
        for blocked in &raw.blocking {
            let mentioned: Vec<&str> = match &blocked.named {
                DependencyPart::Task { id, .. } => vec![id],
                DependencyPart::Words { mentions, .. } => {
                    mentions.iter().map(String::as_str).collect()
                }
            };
            for id in mentioned {
                let found = self.named_by(id);
                if found.is_empty() {
                    let message =
                        format!("task {own} says that it blocks {id}, which is not in the plan");
                    warnings.push(
                        Problem::new(ProblemCode::UnknownDependency, message).at(blocked.line),
                    );
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

    /// A box `2.` before `2.1` and `2.2` is the whole of which those are the parts, and needs them.
    pub(super) fn add_parts(&self, identities: &[Identity], needs: &mut [TaskNeeds]) {
        let is_written_box = |place: &usize| {
            identities[*place] == Identity::WrittenId
                && self.raws[*place].kind == CandidateKind::Checkbox
        };
        for place in (0..self.raws.len()).filter(is_written_box) {
            let id = self.raws[place].id.as_deref().unwrap_or("");
            let Some((own, _)) = id.rsplit_once('.') else {
                continue;
            };
            let whole = self.ids.get(own).copied().filter(is_written_box);
            let Some(whole) = whole.filter(|whole| *whole < place) else {
                continue;
            };
            // Somebody who says it the other way round means it.
            let is_needed = needs[place]
                .tasks
                .iter()
                .any(|need| need.on.as_str() == own);
            if !is_needed {
                needs[whole].add(Dependency {
                    on: TaskId::new(id),
                    line: self.raws[whole].line,
                    if_unknown: IfUnknown::Error,
                });
            }
        }
    }

    pub(super) fn add_sequence(&self, note: RawNote, plan: &mut Plan) {
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
        let mut seen = HashSet::new();
        let is_separator = |c: char| c == ',' || c == '&' || c.is_whitespace();
        for word in group
            .split(is_separator)
            .filter(|word| !matches!(*word, "" | "and"))
        {
            let found = self.named_by(word);
            if found.is_empty() {
                let message = format!("the note names task {word}, which is not in the plan");
                warnings.push(Problem::new(ProblemCode::TaskNotFound, message).at(line));
            }
            tasks.extend(
                found
                    .into_iter()
                    .filter(|id| seen.insert(*id))
                    .map(TaskId::new),
            );
        }
        tasks
    }
}
