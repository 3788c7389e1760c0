//! Why a configuration cannot be used, and where that stands.

use std::fmt;
use std::path::PathBuf;

/// Where something was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// In a file.
    File(PathBuf),
    /// In a variable of the environment.
    Variable(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Variable(name) => name.fmt(f),
        }
    }
}

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file is there and cannot be read.
    #[error("could not read {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is not TOML.
    #[error("{origin}: {message}")]
    Malformed {
        /// Where.
        origin: Origin,
        /// What is wrong.
        message: String,
    },
    /// A key is not known.
    #[error("{origin}: there is no key {key:?}")]
    UnknownKey {
        /// Where.
        origin: Origin,
        /// The key.
        key: String,
        /// The known key that looks most like it.
        nearest: Option<String>,
    },
    /// A value is not what its key takes.
    #[error("{origin}: {key} must be {wanted}")]
    Wrong {
        /// Where.
        origin: Origin,
        /// The key.
        key: String,
        /// What it takes.
        wanted: String,
        /// The value that looks most like what is there.
        nearest: Option<String>,
    },
    /// A path begins with `~`, and nobody knows what that is.
    #[error("could not find {}: HOME is not set", path.display())]
    Homeless {
        /// The path.
        path: PathBuf,
    },
}

impl ConfigError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Io { .. } => "check that the file can be read".to_owned(),
            Self::Malformed { .. } => "correct the file; it is TOML".to_owned(),
            Self::UnknownKey { nearest, .. } | Self::Wrong { nearest, .. }
                if let Some(near) = nearest =>
            {
                format!("did you mean {near}?")
            }
            Self::UnknownKey { .. } => "remove the key".to_owned(),
            Self::Wrong { .. } => "correct the value, or remove it for the default".to_owned(),
            Self::Homeless { .. } => "write the whole path".to_owned(),
        }
    }
}
