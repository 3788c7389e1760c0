//! Work of earlier batches that tasks of a batch build on, as it is stored with the batch.
//!
//! Plain data; how it is found and woven is known to those who run batches.

use std::fmt;

use pleach_domain::choice::Strategy;
use pleach_domain::id::{BatchNumber, TaskId};
use pleach_git::git::CommitId;
use pleach_git::weave::{Strand, StrandOutcome, WeaveError, WeaveFolder, foresee, has_landed};
use pleach_system::text::neutral_text::neutral;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Work of earlier batches, in the order it is woven.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Earlier {
    pub batches: Vec<EarlierBatch>,
    pub tasks: Vec<EarlierTask>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierBatch {
    pub number: BatchNumber,
    pub branch: String,
    pub pr_url: Option<String>,
    /// Its result, and the commit that it was woven onto.
    pub result: Option<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierTask {
    /// The place of its batch among those.
    pub batch: usize,
    pub id: TaskId,
    pub title: String,
    pub commit: String,
    pub basis: Option<String>,
    /// Whether some chosen task needs it; while the batch is made.
    #[serde(skip)]
    pub is_needed: bool,
}

/// A batch that another one builds on, and whose work the base lacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BuildsOn {
    /// Its number.
    #[schema(value_type = u32)]
    pub batch: BatchNumber,
    /// Its branch in the user's repository.
    pub branch: String,
    /// Its pull request, if it has one.
    pub pr_url: Option<String>,
    /// The tasks whose work is used.
    #[schema(value_type = Vec<String>)]
    pub tasks: Vec<TaskId>,
}

impl fmt::Display for BuildsOn {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { batch, branch, .. } = self;
        write!(
            formatter,
            "batch {batch} ({branch}), which is not in the base yet: "
        )?;
        let ids: Vec<&str> = self.tasks.iter().map(TaskId::as_str).collect();
        formatter.write_str(&ids.join(", "))
    }
}

impl Earlier {
    /// The batches that did the work at some places.
    pub fn told(&self, places: &[usize]) -> Vec<BuildsOn> {
        let batches = self.batches.iter().enumerate();
        let told = batches.map(|(number, batch)| BuildsOn {
            batch: batch.number,
            branch: batch.branch.clone(),
            pr_url: batch.pr_url.clone(),
            tasks: places
                .iter()
                .map(|place| &self.tasks[*place])
                .filter(|task| task.batch == number)
                .map(|task| task.id.clone())
                .collect(),
        });
        told.filter(|told| !told.tasks.is_empty()).collect()
    }

    pub fn told_all(&self) -> Vec<BuildsOn> {
        let all: Vec<usize> = (0..self.tasks.len()).collect();
        self.told(&all)
    }
}

impl EarlierBatch {
    fn strand(&self) -> Option<Strand> {
        let (tip, base) = self.result.as_ref()?;
        Some(Strand {
            subject: format!("batch {}", self.number),
            commit: tip.parse().ok()?,
            basis: base.parse().ok(),
        })
    }
}

/// Whether a commit has some work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    There,
    Lacking,
    /// It does not merge there.
    Conflict,
}

impl Earlier {
    pub fn strand(&self, place: usize) -> Option<Strand> {
        let task = &self.tasks[place];
        Some(Strand {
            subject: format!("task {}: {}", task.id, neutral(&task.title)),
            commit: task.commit.parse().ok()?,
            basis: task.basis.as_ref().and_then(|basis| basis.parse().ok()),
        })
    }

    /// Whether what is at each of some places is in a commit: by history, or because weaving it changes nothing.
    pub fn presence(
        &self,
        weave_folder: &WeaveFolder,
        commit: &CommitId,
        places: &[usize],
    ) -> Result<Vec<Presence>, WeaveError> {
        let mut landed = Vec::new();
        for batch in &self.batches {
            // What was merged in one piece is one change, whatever its parts would do by themselves.
            let strand = batch.strand();
            let is_there = |strand| has_landed(weave_folder, commit, &strand).unwrap_or(false);
            landed.push(strand.is_some_and(is_there));
        }
        let mut presence = vec![Presence::There; places.len()];
        let open = places.iter().enumerate();
        let open = open.filter(|(_, place)| !landed[self.tasks[**place].batch]);
        let (open, strands): (Vec<usize>, Vec<Strand>) = open
            .filter_map(|(at, place)| Some((at, self.strand(*place)?)))
            .unzip();
        if strands.is_empty() {
            return Ok(presence);
        }
        let woven = foresee(weave_folder, commit, &strands, Strategy::Merge)?.weave;
        for (number, at) in open.into_iter().enumerate() {
            presence[at] = match &woven.outcomes[number] {
                StrandOutcome::Conflict(_) => Presence::Conflict,
                StrandOutcome::Merged if !woven.idle.contains(&number) => Presence::Lacking,
                StrandOutcome::Merged | StrandOutcome::AlreadyIn => Presence::There,
            };
        }
        Ok(presence)
    }

    /// Why the work at some places cannot be had on a commit, where it cannot.
    pub fn conflict(
        &self,
        weave_folder: &WeaveFolder,
        commit: &CommitId,
        places: &[usize],
    ) -> Result<Option<String>, WeaveError> {
        let strands: Vec<Strand> = places.iter().filter_map(|at| self.strand(*at)).collect();
        let woven = foresee(weave_folder, commit, &strands, Strategy::Merge)?.weave;
        let mut outcomes = woven.outcomes.iter().zip(places);
        Ok(outcomes.find_map(|(outcome, place)| match outcome {
            StrandOutcome::Conflict(conflict) => Some(self.why_not(*place, &conflict.paths())),
            _ => None,
        }))
    }

    pub fn why_not(&self, place: usize, files: &[String]) -> String {
        let told = self.told(&[place]);
        let told: Vec<String> = told.iter().map(ToString::to_string).collect();
        format!(
            "builds on {}, which conflicts in {}; if the base already has it, run with --assume-landed",
            told.join("; "),
            files.join(", ")
        )
    }

    /// Forgets some work, and whose it was.
    pub fn drop_where(
        &mut self,
        mut is_dropped: impl FnMut(&EarlierTask) -> bool,
        of_each: &mut [Vec<usize>],
    ) {
        let stays: Vec<bool> = self.tasks.iter().map(|task| !is_dropped(task)).collect();
        let moved = |place: usize| stays[..place].iter().filter(|stays| **stays).count();
        for places in of_each {
            places.retain(|place| stays[*place]);
            for place in places.iter_mut() {
                *place = moved(*place);
            }
        }
        let mut stays = stays.iter();
        self.tasks.retain(|_| *stays.next().unwrap_or(&true));
    }
}
