//! The opaque ids of tasks: what programs know a task by, whatever its key in the plan is.
//!
//! A task of a board has a random one. One of a plan file has one that follows from project, plan and task, so that it is
//! the same whether the file was imported before a batch, after it or never.

use std::collections::HashMap;

use pleach_domain::id::TaskId;
use pleach_formats::Identity;

use pleach_system::text::hash::hash;

/// As long as those of tasks that are kept on a board.
const LENGTH: usize = 16;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskIds(HashMap<TaskId, String>);

impl TaskIds {
    /// Those of a batch, from what its record says of each task; batches of earlier versions do not know them.
    pub fn of<'t>(
        project: &str,
        plan: &str,
        tasks: impl IntoIterator<Item = (&'t TaskId, Option<&'t str>)>,
    ) -> Self {
        let ids = tasks.into_iter().map(|(key, known)| {
            let derive = || derived(project, plan, key.as_str());
            (key.clone(), known.map_or_else(derive, str::to_owned))
        });
        Self(ids.collect())
    }

    /// The id of a task; the key itself for one that is not of the batch.
    pub fn id(&self, key: &TaskId) -> String {
        let known = self.0.get(key).map(String::as_str);
        known.unwrap_or(key.as_str()).to_owned()
    }

    pub fn key(&self, id: &str) -> Option<&TaskId> {
        let mut all = self.0.iter();
        all.find(|(_, known)| *known == id).map(|(key, _)| key)
    }
}

/// The id of a task of a plan file; where ids are positions, its text says which task it is.
pub fn of_file(
    project: &str,
    plan: &str,
    (key, title): (&TaskId, &str),
    identity: Identity,
) -> String {
    match identity {
        Identity::WrittenId => derived(project, plan, key.as_str()),
        Identity::Text => derived(project, plan, &format!("\0{title}")),
    }
}

fn derived(project: &str, plan: &str, name: &str) -> String {
    let mut id = hash([project, plan, name]);
    id.truncate(LENGTH);
    id
}

#[cfg(test)]
mod tests {
    use pleach_domain::task::Task;

    use super::*;

    #[test]
    fn an_id_follows_from_project_plan_and_task() {
        let task = |id: &str, title: &str| Task::new(id, title, 1);
        let id = |project, plan, task: &Task, identity| {
            of_file(project, plan, (&task.id, &task.title), identity)
        };
        let written = id("p", "/p/TODO.md", &task("1", "A"), Identity::WrittenId);
        assert_eq!(written.len(), 16);
        assert_eq!(
            written,
            id("p", "/p/TODO.md", &task("1", "B"), Identity::WrittenId)
        );
        let by_text = id("p", "/p/TODO.md", &task("1", "A"), Identity::Text);
        assert_eq!(
            by_text,
            id("p", "/p/TODO.md", &task("2", "A"), Identity::Text)
        );
        let others = [
            by_text,
            id("q", "/p/TODO.md", &task("1", "A"), Identity::WrittenId),
            id("p", "/p/PLAN.md", &task("1", "A"), Identity::WrittenId),
            id("p", "/p/TODO.md", &task("2", "A"), Identity::WrittenId),
        ];
        assert!(!others.contains(&written));
    }

    #[test]
    fn batches_of_earlier_versions_have_ids_too() {
        let key = TaskId::new("1.1");
        let known = TaskIds::of("p", "board", [(&key, Some("abc"))]);
        assert_eq!(known.id(&key), "abc");
        assert_eq!(known.key("abc"), Some(&key));
        let earlier = TaskIds::of("p", "board", [(&key, None)]);
        assert_eq!(earlier.key(&earlier.id(&key)), Some(&key));
    }
}
