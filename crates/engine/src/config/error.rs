//! Why a configuration cannot be used, and where that stands.

use std::fmt;
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingOrigin {
    /// Nowhere: it is so unless somebody says otherwise.
    Default,
    File {
        path: PathBuf,
        /// The line, counted from 1, where it is known.
        line: Option<usize>,
    },
    Variable(String),
    Flag,
}

impl SettingOrigin {
    pub(super) fn at(&self, line: Option<usize>) -> Self {
        match self {
            Self::File { path, .. } => Self::File {
                path: path.clone(),
                line,
            },
            other => other.clone(),
        }
    }
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line: None } => path.display().fmt(f),
            Self::File {
                path,
                line: Some(line),
            } => write!(f, "{}:{line}", path.display()),
            Self::Variable(name) => name.fmt(f),
            Self::Flag => f.write_str("command line"),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("could not read {}", path.display())]
    Io {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("could not write {}", path.display())]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{origin}: {message}")]
    Malformed {
        origin: SettingOrigin,
        message: String,
    },
    #[error("{origin}: unknown key {key:?}")]
    UnknownKey {
        origin: SettingOrigin,
        key: String,
        nearest: Option<String>,
    },
    #[error("{origin}: {key} must be {wanted}")]
    Wrong {
        origin: SettingOrigin,
        key: String,
        wanted: String,
        nearest: Option<String>,
    },
    /// A pattern gives no usable names of branches.
    #[error("{origin}: {key} {why}")]
    Branches {
        origin: SettingOrigin,
        key: &'static str,
        why: String,
    },
    /// A path begins with `~`, and nobody knows what that is.
    #[error("could not find {}: HOME is not set", path.display())]
    Homeless { path: PathBuf },
    #[error("{}", first(.0))]
    Several(Vec<ConfigError>),
}

fn first(all: &[ConfigError]) -> String {
    let more = all.len().saturating_sub(1);
    match (all.first(), more) {
        (Some(first), 0) => first.to_string(),
        (Some(first), _) => format!("{first}, and {more} more"),
        (None, _) => String::new(),
    }
}

impl ConfigError {
    pub fn hint(&self) -> String {
        match self {
            Self::Io { .. } => "check that the file is readable".to_owned(),
            Self::Write { .. } => "check that the folder is writable".to_owned(),
            Self::Malformed { .. } => "fix the TOML syntax".to_owned(),
            Self::UnknownKey { nearest, .. } | Self::Wrong { nearest, .. }
                if let Some(near) = nearest =>
            {
                format!("did you mean {near}?")
            }
            Self::UnknownKey { .. } => "`pleach config` lists all keys".to_owned(),
            Self::Wrong { .. } => "change the value, or remove it to use the default".to_owned(),
            Self::Branches { .. } => "`pleach config` shows how branches are named".to_owned(),
            Self::Homeless { .. } => "use an absolute path".to_owned(),
            Self::Several(all) => all.first().map(Self::hint).unwrap_or_default(),
        }
    }

    pub fn each(&self) -> &[Self] {
        match self {
            Self::Several(all) => all,
            one => std::slice::from_ref(one),
        }
    }

    pub(crate) fn check(mut all: Vec<Self>) -> Result<(), Self> {
        all.sort_by_key(Self::place);
        match all.len() {
            0 => Ok(()),
            1 => Err(all.remove(0)),
            _ => Err(Self::Several(all)),
        }
    }

    /// Its file and line, so that several are told in the order of lines.
    fn place(&self) -> Option<(PathBuf, Option<usize>)> {
        match self {
            Self::UnknownKey { origin, .. }
            | Self::Wrong { origin, .. }
            | Self::Branches { origin, .. } => match origin {
                SettingOrigin::File { path, line } => Some((path.clone(), *line)),
                _ => None,
            },
            _ => None,
        }
    }

    fn into_each(self) -> Vec<Self> {
        match self {
            Self::Several(all) => all,
            one => vec![one],
        }
    }

    pub(super) fn collect<T>(result: Result<T, Self>, problems: &mut Vec<Self>) -> Option<T> {
        result
            .map_err(|error| problems.extend(error.into_each()))
            .ok()
    }
}
