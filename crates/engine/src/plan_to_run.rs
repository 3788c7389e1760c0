//! A plan that tasks are to be run of, wherever it is kept; or several, as one.

mod join;

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use pleach_domain::id::TaskId;
use pleach_formats::Document;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Debug)]
pub struct PlanToRun {
    /// Where it is kept, and where it is said how far its tasks are.
    pub origin: PlanOrigin,
    /// Its text; empty for the board, which has none.
    pub text: String,
    pub document: Document,
    /// Other plans whose tasks stand behind its own in the document.
    pub joined: Vec<JoinedPlan>,
}

#[derive(Debug)]
pub struct JoinedPlan {
    pub origin: PlanOrigin,
    text: String,
    /// The position of its first task in the document.
    first: usize,
    /// The ids that its tasks have in it, in their order.
    keys: Vec<TaskId>,
}

/// Where a task is kept that is not of the plan of its batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskHome {
    pub plan: PlanOrigin,
    /// Its id there; inside the batch it may have another one.
    pub key: TaskId,
}

impl PlanToRun {
    pub fn new(origin: PlanOrigin, text: String, document: Document) -> Self {
        Self {
            origin,
            text,
            document,
            joined: Vec::new(),
        }
    }

    pub(crate) fn origins(&self) -> impl Iterator<Item = &PlanOrigin> {
        let joined = self.joined.iter().map(|joined| &joined.origin);
        std::iter::once(&self.origin).chain(joined)
    }

    fn joined_at(&self, position: usize) -> Option<(&JoinedPlan, &TaskId)> {
        let behind = self.joined.partition_point(|plan| plan.first <= position);
        let plan = &self.joined[behind.checked_sub(1)?];
        Some((plan, plan.keys.get(position - plan.first)?))
    }

    pub(crate) fn origin_of(&self, position: usize) -> &PlanOrigin {
        let joined = self.joined_at(position);
        joined.map_or(&self.origin, |(plan, _)| &plan.origin)
    }

    pub(crate) fn text_of(&self, position: usize) -> &str {
        let joined = self.joined_at(position);
        joined.map_or(&self.text, |(plan, _)| &plan.text)
    }

    pub(crate) fn key_of(&self, position: usize) -> &TaskId {
        let own = &self.document.plan.tasks[position].id;
        self.joined_at(position).map_or(own, |(_, key)| key)
    }

    /// Where a task is kept, if not in the first plan.
    pub(crate) fn home_of(&self, position: usize) -> Option<TaskHome> {
        self.joined_at(position).map(|(plan, key)| TaskHome {
            plan: plan.origin.clone(),
            key: key.clone(),
        })
    }

    /// The ids of tasks that are of another plan than the first, with their homes.
    pub(crate) fn homes(&self) -> impl Iterator<Item = (&TaskId, TaskHome)> {
        let tasks = self.document.plan.tasks.iter().enumerate();
        tasks.filter_map(|(at, task)| Some((&task.id, self.home_of(at)?)))
    }
}

/// What is known of tasks by their ids in their own plans, by their ids in a batch.
pub(crate) fn by_id_in_batch<'t, T, E>(
    own: &PlanOrigin,
    homes: impl IntoIterator<Item = (&'t TaskId, TaskHome)>,
    look_up: impl Fn(&str) -> Result<HashMap<TaskId, T>, E>,
) -> Result<HashMap<TaskId, T>, E> {
    let mut found = look_up(&own.key())?;
    let mut others: HashMap<String, HashMap<TaskId, T>> = HashMap::new();
    for (id, TaskHome { plan, key }) in homes {
        let plan = plan.key();
        if !others.contains_key(&plan) {
            others.insert(plan.clone(), look_up(&plan)?);
        }
        // The first plan may have had a task of that id.
        found.remove(id);
        let known = others.get_mut(&plan).and_then(|known| known.remove(&key));
        found.extend(known.map(|known| (id.clone(), known)));
    }
    Ok(found)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanOrigin {
    /// A file, which is marked while its tasks run.
    File(PathBuf),
    /// The database; the tasks of one project that are in no file.
    Board,
}

impl PlanOrigin {
    /// The name of the board among the plans of a project; no path is that short without a slash.
    pub const BOARD: &'static str = "board";

    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Board => None,
        }
    }

    /// The same with nothing in its path left to chance, so that two ways to name a file are one.
    pub fn settled(&self) -> std::io::Result<Self> {
        match self {
            Self::File(path) => path.canonicalize().map(Self::File),
            Self::Board => Ok(Self::Board),
        }
    }

    /// Its name among the plans of a project, for an origin that is settled.
    pub fn key(&self) -> String {
        match self {
            Self::File(path) => path.to_string_lossy().into_owned(),
            Self::Board => Self::BOARD.to_owned(),
        }
    }
}

impl fmt::Display for PlanOrigin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(formatter),
            Self::Board => Self::BOARD.fmt(formatter),
        }
    }
}

impl Serialize for PlanOrigin {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let path = self.path().unwrap_or(Path::new(Self::BOARD));
        pleach_system::files::stored_path::serialize(path, to)
    }
}

impl<'de> Deserialize<'de> for PlanOrigin {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let path = pleach_system::files::stored_path::deserialize(from)?;
        // Files are stored by their whole path, which this is none of.
        Ok(if path == Path::new(Self::BOARD) {
            Self::Board
        } else {
            Self::File(path)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_stored_as_the_path_it_was_stored_as_before_there_was_a_board() {
        for (origin, text) in [
            (PlanOrigin::File("/p/TODO.md".into()), "\"/p/TODO.md\""),
            (PlanOrigin::Board, "\"board\""),
        ] {
            assert_eq!(serde_json::to_string(&origin).unwrap(), text);
            assert_eq!(serde_json::from_str::<PlanOrigin>(text).unwrap(), origin);
        }
    }
}
