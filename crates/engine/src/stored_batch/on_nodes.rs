//! Where attempts work that run on nodes of a cluster.
//!
//! Says it as the log does; no node is asked.

use std::time::Duration;

use pleach_log::batch_paths::task_branch;

use super::StoredBatch;

/// The worktree of an attempt that runs on a node.
#[derive(Debug)]
pub struct NodeWorktree {
    /// `batch-3/task-63`
    pub id: String,
    pub node: String,
    pub branch: String,
    /// There; it may begin with a variable of the node.
    pub path: String,
    /// How long its attempt has worked.
    pub age: Option<Duration>,
}

impl StoredBatch {
    /// Those of the batch, at a moment in milliseconds since 1970.
    pub fn on_nodes(&self, now: u64) -> Vec<NodeWorktree> {
        let Some(cluster) = &self.record.cluster else {
            return Vec::new();
        };
        let tasks = self.batch.tasks.iter().enumerate();
        let running = tasks.filter(|(_, task)| task.state.attempt().is_some());
        let on_node = running.filter_map(|(task, known)| {
            let segment = self.segment(task);
            let since = self.history.tasks[task].at_work_since;
            Some(NodeWorktree {
                id: format!("batch-{}/task-{segment}", self.number),
                node: known.node.clone()?,
                branch: task_branch(self.number, &segment),
                path: cluster.tree_on_node(&self.project, self.number, &segment),
                age: since.map(|since| Duration::from_millis(now.saturating_sub(since))),
            })
        });
        on_node.collect()
    }
}
