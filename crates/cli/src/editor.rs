//! Opens files in the user's editor and waits until it is closed.
//!
//! Knows nothing of what the files are.

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// The user's editor, as they have it in their environment; on a terminal everybody has `vi`.
pub(crate) fn find() -> Option<String> {
    let set = ["VISUAL", "EDITOR"].into_iter().find_map(|name| {
        let text = std::env::var(name).ok()?;
        (!text.trim().is_empty()).then_some(text)
    });
    set.or_else(|| io::stdin().is_terminal().then(|| "vi".to_owned()))
}

/// Opens files of a folder, as git does: the editor may be several words.
pub(crate) fn open(editor: &str, folder: &Path, files: &[PathBuf]) -> io::Result<ExitStatus> {
    let mut command = Command::new("/bin/sh");
    command
        .arg("-c")
        .arg(format!("{editor} \"$@\""))
        .arg(editor);
    command.args(files).current_dir(folder).status()
}
