//! Says which lines of the plan a batch changed.

use std::path::Path;

use pleach_domain::id::TaskId;
use pleach_engine::run::Summary;

use crate::output::one_line;

/// More than so many ticks are counted, not named.
const MOST_TICKED: usize = 12;

/// Which lines of the plan were changed, if any were.
pub(super) fn ticked(summary: &Summary) -> Option<String> {
    let path = summary.plan.path()?;
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    let inside = here
        .ok()
        .and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
    let name = one_line(&inside.as_deref().unwrap_or(path).to_string_lossy());
    let list = |each: &dyn Fn(&(TaskId, u32)) -> String| {
        let each: Vec<String> = summary.ticked.iter().map(each).collect();
        each.join(", ")
    };
    let lines = if summary.ticked.len() == 1 {
        "line"
    } else {
        "lines"
    };
    match summary.ticked.len() {
        0 => None,
        many if many > MOST_TICKED => Some(format!("ticked {many} tasks in {name}")),
        _ => Some(format!(
            "ticked {} in {name} ({lines} {})",
            one_line(&list(&|(id, _)| id.to_string())),
            list(&|(_, line)| line.to_string()),
        )),
    }
}
