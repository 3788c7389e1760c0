//! A plan that tasks are to be run of, wherever it is kept.

use std::fmt;
use std::path::{Path, PathBuf};

use pleach_formats::Document;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A plan as it is handed to a run.
#[derive(Debug)]
pub struct PlanToRun {
    /// Where it is kept, and where it is said how far its tasks are.
    pub origin: PlanOrigin,
    /// Its text; empty for the board, which has none.
    pub text: String,
    /// The plan, and where its marks stand.
    pub document: Document,
}

/// Where a plan is kept.
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

    /// Its file, if it is one.
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
        crate::path_text::serialize(path, to)
    }
}

impl<'de> Deserialize<'de> for PlanOrigin {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let path = crate::path_text::deserialize(from)?;
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
