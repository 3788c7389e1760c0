//! What holds programs on another machine than the one where that was chosen.

use std::path::{Path, PathBuf};

use super::{NoSandbox, SandboxPolicy};
use crate::files::stored_path::StoredPath;

impl SandboxPolicy {
    /// The same wish on this machine; the program is our own.
    pub fn chosen_here(self, program: &Path) -> Result<Self, NoSandbox> {
        let wanted = self.is_wish.then_some(&self.choice);
        let here = Self::choose(wanted, &[])?;
        let network = self.network;
        let chosen = Self {
            choice: here.choice,
            is_makeshift: here.is_makeshift,
            ..self
        };
        chosen.on_network(network, program)
    }

    /// The same, with a folder of ours where they may write.
    #[must_use]
    pub fn writing(mut self, folder: PathBuf) -> Self {
        self.write.push(StoredPath(folder));
        self
    }

    /// The same, with more that is closed to them.
    #[must_use]
    pub fn closing(mut self, paths: impl IntoIterator<Item = StoredPath>) -> Self {
        self.closed.extend(paths);
        self
    }
}
