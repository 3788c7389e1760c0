//! Says which lines of plan files a batch changed.

use std::path::Path;

use pleach_engine::run::{Summary, TickedTask};

use crate::output::one_line;

const MOST_TICKED: usize = 12;

/// Which lines of plan files were changed: a sentence for each file.
pub(super) fn ticked(summary: &Summary) -> impl Iterator<Item = String> {
    let of_file = |one: &TickedTask, other: &TickedTask| one.file == other.file;
    summary.ticked.chunk_by(of_file).map(in_file)
}

fn in_file(ticked: &[TickedTask]) -> String {
    let path = &ticked[0].file;
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    let inside = here
        .ok()
        .and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
    let name = one_line(&inside.as_deref().unwrap_or(path).to_string_lossy());
    let list = |each: &dyn Fn(&TickedTask) -> String| {
        let each: Vec<String> = ticked.iter().map(each).collect();
        each.join(", ")
    };
    let lines = if ticked.len() == 1 { "line" } else { "lines" };
    match ticked.len() {
        many if many > MOST_TICKED => format!("ticked {many} tasks in {name}"),
        _ => format!(
            "ticked {} in {name} ({lines} {})",
            one_line(&list(&|ticked| ticked.task.to_string())),
            list(&|ticked| ticked.line.to_string()),
        ),
    }
}
