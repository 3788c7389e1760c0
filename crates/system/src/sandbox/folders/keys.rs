//! Finds where the keys of a user are.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use pleach_driver::KNOWN_AGENTS;

use super::User;
use crate::sandbox::places::{
    AGENT_LOGINS, EDITOR_SERVERS, EDITOR_TOKEN, KEYS, REGISTRY_LOGINS, SETTINGS_WITH_LOGINS,
};

/// Nobody's settings are longer.
const LONGEST: u64 = 1 << 20;

impl User<'_> {
    pub(in crate::sandbox) fn keys(&self) -> &[PathBuf] {
        self.keys.get_or_init(|| {
            let mut keys = self.inside(KEYS);
            for (place, login) in SETTINGS_WITH_LOGINS {
                let files = self.inside(&[place]).into_iter();
                keys.extend(files.filter(|file| has_text(file, login)));
            }
            for folder in self.inside(EDITOR_SERVERS) {
                let entries = fs::read_dir(folder).into_iter().flatten().flatten();
                let files = entries.map(|entry| entry.path());
                let is_token =
                    |file: &PathBuf| file.extension().is_some_and(|end| end == EDITOR_TOKEN);
                keys.extend(files.filter(is_token));
            }
            // Whoever is not known may be any of these.
            if let Some(tool) = self.tool.as_deref() {
                let known = KNOWN_AGENTS.iter();
                let known = known.map(|agent| (agent.program, agent.home.login));
                let all = AGENT_LOGINS.iter().copied().chain(known);
                let others = all.filter(|(program, _)| *program != tool);
                let others: Vec<&str> = others.map(|(_, place)| place).collect();
                keys.extend(self.inside(&others));
            }
            self.that_can_be_closed(keys)
        })
    }

    /// Where programs make files of any name, what is not there yet could not be closed.
    fn that_can_be_closed(&self, mut keys: Vec<PathBuf>) -> Vec<PathBuf> {
        let shared = self.shared();
        let is_shared = |path: &PathBuf| shared.iter().any(|shared| path.starts_with(shared));
        keys.retain(|path| !is_shared(path) || path.exists());
        keys
    }

    /// Logins for private servers of packages, as far as there are any.
    pub(in crate::sandbox) fn registry_logins(&self) -> Vec<PathBuf> {
        let logins = self.inside(REGISTRY_LOGINS).into_iter();
        logins.filter(|path| path.is_file()).collect()
    }
}

fn has_text(file: &Path, wanted: &str) -> bool {
    // Whoever opens a pipe waits for somebody to write to it.
    if !fs::metadata(file).is_ok_and(|found| found.is_file()) {
        return false;
    }
    let mut bytes = Vec::new();
    let read = File::open(file).and_then(|file| file.take(LONGEST).read_to_end(&mut bytes));
    read.is_ok() && String::from_utf8_lossy(&bytes).contains(wanted)
}

/// Where the keys of whoever runs Pleach are, but for some.
pub fn keys_but(open: &[&str]) -> Vec<PathBuf> {
    let env: Vec<_> = std::env::vars_os().collect();
    let closed = KEYS.iter().filter(|key| !open.contains(key));
    let closed: Vec<&str> = closed.copied().collect();
    let user = User::at(&env, Path::new(""), Vec::new());
    user.that_can_be_closed(user.inside(&closed))
}
