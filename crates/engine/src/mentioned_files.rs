//! Declares the files that tasks name by a bare path, where the project has such a file.
//!
//! Looks at the folder of the project: a plan alone cannot tell `src/app.ts` from any other word.

use std::collections::HashMap;
use std::path::Path;

use pleach_domain::plan::Plan;

use crate::plan_in_use::project_folder;

/// Adds to the declared files of each task what it mentions and the project around `folder` has.
pub fn declare_mentioned(plan: &mut Plan, folder: &Path) {
    if plan.tasks.iter().all(|task| task.mentions.is_empty()) {
        return;
    }
    let top = project_folder(folder);
    let mut known: HashMap<String, bool> = HashMap::new();
    for task in &mut plan.tasks {
        for path in std::mem::take(&mut task.mentions) {
            let look = || top.join(&path).symlink_metadata();
            let is_file = *known
                .entry(path.clone())
                .or_insert_with(|| look().is_ok_and(|found| !found.is_dir()));
            if is_file && !task.files.contains(&path) {
                task.files.push(path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_path_is_declared_where_the_file_exists() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("src/deep.d")).unwrap();
        std::fs::write(folder.path().join("src/app.ts"), "").unwrap();
        let text = "- [ ] 1.1 Update src/app.ts, `src/app.ts`, src/deep.d and e.g. src/new.ts\n";
        let mut plan = pleach_formats::read(text).plan;
        declare_mentioned(&mut plan, folder.path());
        assert_eq!(plan.tasks[0].files, ["src/app.ts"]);
        let mut plan = pleach_formats::read("- [ ] Change src/app.ts for login\n").plan;
        declare_mentioned(&mut plan, folder.path());
        assert_eq!(plan.tasks[0].files, ["src/app.ts"]);
    }
}
