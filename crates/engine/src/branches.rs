//! How the branches are named that people see: in their repository, and on the server.
//!
//! Knows nothing of refs that exist. In the private store branches have names of their own, which never change.

mod check;

use serde::{Deserialize, Serialize};

use crate::placeholder::{Piece, pieces};
use crate::settings::Settings;

pub(crate) use check::{Fault, check};

const PREFIX: &str = "prefix";
const BATCH: &str = "batch";
const TASK: &str = "task";

/// The patterns that a batch names its branches by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchNames {
    prefix: String,
    task: String,
    batch: String,
}

impl Default for BranchNames {
    /// As batches were named before anybody could choose.
    fn default() -> Self {
        Self {
            prefix: "pleach".to_owned(),
            task: "{{prefix}}/task-{{batch}}/{{task}}".to_owned(),
            batch: "{{prefix}}/batch-{{batch}}".to_owned(),
        }
    }
}

impl BranchNames {
    /// As they are configured.
    pub fn of(settings: &Settings) -> Self {
        Self {
            prefix: settings.branch_prefix.clone(),
            task: settings.task_branch.clone(),
            batch: settings.batch_branch.clone(),
        }
    }

    /// The branch of a batch.
    pub(crate) fn batch(&self, number: u32) -> String {
        self.fill(&self.batch, number, "")
    }

    /// The branch of a task, by the segment of its id.
    pub(crate) fn task(&self, number: u32, segment: &str) -> String {
        self.fill(&self.task, number, segment)
    }

    /// The branch of work that is brought back.
    pub(crate) fn recovered(&self, number: u32, segment: &str) -> String {
        format!("{}/recovered-{number}/{segment}", self.prefix)
    }

    /// A name in each folder that there will be branches in, as far as that is known without a batch.
    pub fn places(&self) -> Vec<String> {
        let fixed = |pattern: &str| {
            let filled = self.filled_prefix(pattern);
            let folders = filled.split('/').take_while(|part| !part.contains("{{"));
            folders.chain(["batch"]).collect::<Vec<_>>().join("/")
        };
        let mut all = vec![fixed(&self.batch), fixed(&self.task)];
        all.push(format!("{}/batch", self.prefix));
        all.dedup();
        all
    }

    fn filled_prefix(&self, pattern: &str) -> String {
        let pieces = pieces(pattern).into_iter();
        let filled = pieces.map(|piece| match piece {
            Piece::Place { name: PREFIX, .. } => self.prefix.as_str(),
            Piece::Text(text) | Piece::Place { written: text, .. } => text,
        });
        filled.collect()
    }

    fn fill(&self, pattern: &str, number: u32, segment: &str) -> String {
        let number = number.to_string();
        let pieces = pieces(pattern).into_iter();
        let filled = pieces.map(|piece| match piece {
            Piece::Place { name: PREFIX, .. } => self.prefix.as_str(),
            Piece::Place { name: BATCH, .. } => &number,
            Piece::Place { name: TASK, .. } => segment,
            Piece::Text(text) | Piece::Place { written: text, .. } => text,
        });
        filled.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_patterns() {
        let usual = BranchNames::default();
        assert_eq!(usual.batch(3), "pleach/batch-3");
        assert_eq!(usual.task(3, "2-2e1"), "pleach/task-3/2-2e1");
        assert_eq!(usual.recovered(3, "1"), "pleach/recovered-3/1");
        assert_eq!(usual.places(), ["pleach/batch"]);
        let own = BranchNames {
            prefix: "team/bot".to_owned(),
            task: "{{ prefix }}/{{batch}}/t-{{task}}".to_owned(),
            batch: "hedge/{{batch}}/all".to_owned(),
        };
        assert_eq!(own.batch(3), "hedge/3/all");
        assert_eq!(own.task(3, "a"), "team/bot/3/t-a");
        assert_eq!(own.recovered(3, "a"), "team/bot/recovered-3/a");
        assert_eq!(own.places(), ["hedge/batch", "team/bot/batch"]);
    }

    #[test]
    fn the_usual_names_are_the_defaults_of_the_configuration() {
        let folder = std::path::Path::new("/project");
        let settings = Settings::of([], folder).unwrap();
        assert_eq!(BranchNames::of(&settings), BranchNames::default());
    }
}
