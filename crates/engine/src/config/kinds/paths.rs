//! Paths: what a file may name, and where that is.

use std::path::{Path, PathBuf};

use pleach_system::files::cached_path::cached_path;
use toml_edit::{Array, Value};

use super::{List, ValueKind};
use crate::config::error::ConfigError;

pub(in crate::config) struct PathValue;

impl ValueKind for PathValue {
    type Value = PathBuf;

    fn wanted() -> String {
        "a path in quotes".to_owned()
    }

    fn read(value: &Value) -> Option<PathBuf> {
        value.as_str().map(PathBuf::from)
    }

    fn write(value: &PathBuf) -> Value {
        value.to_string_lossy().as_ref().into()
    }

    fn is_nothing(value: &PathBuf) -> bool {
        value.as_os_str().is_empty()
    }

    /// From the repository, or from the home folder.
    fn meant(path: PathBuf, repository: &Path) -> Result<PathBuf, ConfigError> {
        let Ok(below) = path.strip_prefix("~") else {
            return Ok(repository.join(path));
        };
        let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
        match home {
            Some(home) => Ok(Path::new(&home).join(below)),
            None => Err(ConfigError::Homeless { path }),
        }
    }
}

pub(in crate::config) struct PathList;

impl ValueKind for PathList {
    type Value = Vec<PathBuf>;

    fn wanted() -> String {
        List::wanted()
    }

    fn read(value: &Value) -> Option<Vec<PathBuf>> {
        value.as_array()?.iter().map(PathValue::read).collect()
    }

    fn write(value: &Vec<PathBuf>) -> Value {
        value.iter().map(PathValue::write).collect::<Array>().into()
    }

    fn meant(paths: Vec<PathBuf>, repository: &Path) -> Result<Vec<PathBuf>, ConfigError> {
        let paths = paths
            .into_iter()
            .filter(|path| !PathValue::is_nothing(path));
        paths
            .map(|path| PathValue::meant(path, repository))
            .collect()
    }
}

/// Paths within a worktree.
pub(in crate::config) struct CachedPaths;

impl ValueKind for CachedPaths {
    type Value = Vec<String>;

    fn wanted() -> String {
        "a list of paths in the repository, without .. and not .git, as in [\"target\"]".to_owned()
    }

    fn read(value: &Value) -> Option<Vec<String>> {
        let paths = List::read(value)?;
        let are_fit = paths.iter().all(|path| cached_path(path).is_some());
        are_fit.then_some(paths)
    }

    fn write(value: &Vec<String>) -> Value {
        List::write(value)
    }
}
