//! States that a person gave to tasks and that their plan has no word for.
//!
//! Keeps what was said last; whether something newer is known is for others to say.

use std::collections::HashMap;

use pleach_domain::id::TaskId;
use pleach_domain::task::TaskStatus;
use rusqlite::params;

use super::error::Stop;
use super::{Database, DatabaseError, now};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkedTask {
    pub id: TaskId,
    /// Its title, where that is what tells it apart.
    pub title: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanMark {
    /// The title of the task then, where that is what tells it apart.
    pub title: Option<String>,
    pub status: TaskStatus,
    /// When that was said, in milliseconds since 1970.
    pub at: u64,
}

impl Database {
    /// Remembers a state of tasks of a plan.
    pub fn mark_tasks(
        &mut self,
        project: &str,
        plan: &str,
        tasks: &[MarkedTask],
        status: TaskStatus,
    ) -> Result<(), DatabaseError> {
        self.write("mark tasks", |transaction| {
            for task in tasks {
                transaction.execute(
                    "INSERT OR REPLACE INTO plan_mark (project, plan, task, title, status, at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                    params![
                        project,
                        plan,
                        task.id.as_str(),
                        task.title,
                        status.as_str(),
                        now().cast_signed()
                    ],
                )?;
            }
            Ok(())
        })
    }

    /// Forgets what was said of tasks, because their plan says it by now.
    pub fn unmark_tasks(
        &mut self,
        project: &str,
        plan: &str,
        tasks: &[MarkedTask],
    ) -> Result<(), DatabaseError> {
        self.write("delete marks", |transaction| {
            for task in tasks {
                transaction.execute(
                    "DELETE FROM plan_mark WHERE project = ?1 AND plan = ?2 AND task = ?3",
                    params![project, plan, task.id.as_str()],
                )?;
            }
            Ok(())
        })
    }

    pub fn plan_marks(
        &self,
        project: &str,
        plan: &str,
    ) -> Result<HashMap<TaskId, PlanMark>, DatabaseError> {
        let read = || -> Result<HashMap<TaskId, PlanMark>, Stop> {
            let mut select = self.connection.prepare(
                "SELECT task, title, status, at FROM plan_mark WHERE project = ?1 AND plan = ?2",
            )?;
            let rows = select.query_map([project, plan], |row| {
                let task: String = row.get(0)?;
                let status: String = row.get(2)?;
                let at: i64 = row.get(3)?;
                Ok((TaskId::new(task), row.get(1)?, status, at.cast_unsigned()))
            })?;
            let mut marks = HashMap::new();
            for row in rows {
                let (task, title, status, at) = row?;
                // A word of a later version says nothing to this one.
                let status = serde_json::from_value(serde_json::Value::String(status));
                if let Ok(status) = status {
                    marks.insert(task, PlanMark { title, status, at });
                }
            }
            Ok(marks)
        };
        read().map_err(|stop| stop.while_at("read the marks of a plan", &self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::super::schema::STEPS;
    use super::*;

    #[test]
    fn the_last_mark_of_a_task_is_kept_until_it_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let mut database = Database::at(&folder.path().join("pleach.db"), STEPS).unwrap();
        let task = [MarkedTask {
            id: TaskId::new("1.1"),
            title: None,
        }];
        for status in [TaskStatus::Failed, TaskStatus::Skipped] {
            database.mark_tasks("p", "TODO.md", &task, status).unwrap();
        }
        let marks = database.plan_marks("p", "TODO.md").unwrap();
        assert_eq!(marks[&task[0].id].status, TaskStatus::Skipped);
        assert!(database.plan_marks("q", "TODO.md").unwrap().is_empty());
        database.unmark_tasks("p", "TODO.md", &task).unwrap();
        assert!(database.plan_marks("p", "TODO.md").unwrap().is_empty());
    }
}
