//! Shows long text through the user's pager, where there is a terminal to page on.
//!
//! Knows nothing of what the text is.

use std::io::{IsTerminal as _, Write as _};
use std::process::{Command, Stdio};

/// Prints a text; on a terminal that is too low for it, through `$PAGER` or `less`.
pub(crate) fn show(text: &str) {
    let height = terminal_size::terminal_size().map(|(_, height)| usize::from(height.0));
    let fits = height.is_none_or(|height| text.lines().count() < height);
    if fits || !std::io::stdout().is_terminal() || !through_pager(text) {
        crate::output::print(format_args!("{text}"));
    }
}

fn through_pager(text: &str) -> bool {
    let pager = std::env::var("PAGER")
        .ok()
        .filter(|pager| !pager.trim().is_empty());
    let pager = pager.unwrap_or_else(|| "less -FRX".to_owned());
    let mut words = pager.split_whitespace();
    let Some(program) = words.next() else {
        return false;
    };
    let spawned = Command::new(program)
        .args(words)
        .stdin(Stdio::piped())
        .spawn();
    let Ok(mut child) = spawned else { return false };
    if let Some(mut input) = child.stdin.take() {
        // Somebody who leaves the pager early has seen enough.
        let _ = input.write_all(in_colour(text).as_bytes());
    }
    child.wait().is_ok()
}

/// The text as this terminal would have got it.
fn in_colour(text: &str) -> String {
    match anstream::AutoStream::choice(&std::io::stdout()) {
        anstream::ColorChoice::Never => anstream::adapter::strip_str(text).to_string(),
        _ => text.to_owned(),
    }
}
