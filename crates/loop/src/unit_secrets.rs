//! What a unit gets that orders do not hold: variables that may be secret, and ignored files of the user's checkout.
//!
//! Knows the ways it takes to a node, and of none that it is written on unless somebody chose that.

use std::fs::File;
use std::io::{self, Seek as _, Write as _};

use pleach_domain::choice::SecretDelivery;
use pleach_git::worktree::{Included, PackedFiles};
use pleach_system::variables::is_allowed_to_all;
use rustix::fs::{MemfdFlags, memfd_create};
use serde::{Deserialize, Serialize};

use crate::attempt::AttemptContext;

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct UnitSecrets {
    pub(crate) variables: Vec<(String, String)>,
    pub(crate) files: PackedFiles,
    /// What does not come along, in words.
    #[serde(skip)]
    pub(crate) left_out: Vec<String>,
}

/// How a node comes by them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SecretsRoute {
    /// There are none, or none are to be sent.
    Nothing,
    /// Its owner has our program called there, with them as its input.
    Channel,
    /// They lie in the folder of its submission until it reads them.
    File,
}

impl UnitSecrets {
    /// What programs get besides the usual variables, as far as it is set here: nobody knows which of it is secret.
    pub(crate) fn of(context: &AttemptContext) -> Self {
        let (files, left_out) = context.included.pack();
        Self {
            files,
            left_out: left_out.iter().map(ToString::to_string).collect(),
            ..Self::of_variables(context.settings.passed_on())
        }
    }

    /// Those of these variables that are set here and that not every program may see.
    pub(crate) fn of_variables(mut names: Vec<String>) -> Self {
        names.sort();
        names.dedup();
        let set = names.into_iter().filter(|name| !is_allowed_to_all(name));
        let set = set.filter_map(|name| Some((name.clone(), std::env::var(name).ok()?)));
        Self {
            variables: set.collect(),
            ..Self::default()
        }
    }

    pub(crate) fn text(&self) -> String {
        serde_json::to_string(self).expect("names, values and paths have a text")
    }

    pub(crate) fn parse(text: &[u8]) -> io::Result<Self> {
        Ok(serde_json::from_slice(text)?)
    }

    /// A file in memory alone, for our own program to go on with.
    pub(crate) fn files_in_memory(&self) -> io::Result<File> {
        let mut file = File::from(memfd_create("files", MemfdFlags::CLOEXEC)?);
        file.write_all(&serde_json::to_vec(&self.files)?)?;
        file.rewind()?;
        Ok(file)
    }
}

impl SecretsRoute {
    pub(crate) fn of(chosen: SecretDelivery) -> Self {
        match chosen {
            SecretDelivery::Channel => Self::Channel,
            SecretDelivery::File => Self::File,
            SecretDelivery::None => Self::Nothing,
        }
    }

    /// The same, if there is anything to be sent.
    pub(crate) fn wanted(self, secrets: &[(String, String)], included: &Included) -> Self {
        if secrets.is_empty() && included.is_empty() {
            Self::Nothing
        } else {
            self
        }
    }
}
