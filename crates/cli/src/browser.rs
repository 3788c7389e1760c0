//! Opens a page in the user's browser.

use std::io;
use std::process::{Command, Stdio};

/// Hands a link to the browser that the user has chosen; does not wait for it.
pub(crate) fn open(link: &str) -> io::Result<()> {
    let chosen = std::env::var_os("BROWSER").filter(|browser| !browser.is_empty());
    let mut command = Command::new(chosen.unwrap_or_else(|| "xdg-open".into()));
    command.arg(link);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map(drop)
}
