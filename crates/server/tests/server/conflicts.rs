//! Conflicts over HTTP: laid out for a person, woven when they are done, or left out.

use std::fs;
use std::path::PathBuf;

use pleach_testkit::{Gate, Response, WAIT, check_no_worktree_is_left, outcomes, until_over};
use serde_json::{Value, json};

use crate::alone;
use crate::serving::Serving;
use crate::serving::state;
use crate::table::Table;

/// Everybody writes the same line, and a file of their own.
const SHELL: &str = "echo $PLEACH_TASK > shared; echo $PLEACH_TASK > own-$PLEACH_TASK";

/// A batch that is over: 1 is merged, and 2 conflicts with it.
struct Conflict {
    table: Table,
    server: Serving,
}

impl Conflict {
    fn new() -> Self {
        let table = Table::new(2, "land = \"none\"", SHELL);
        table.scene.repo.write("shared", "nobody\n");
        table.scene.repo.commit("a file that all write");
        let server = table.serve();
        table.start(&server, &json!({"maxConcurrent": 1}));
        let over = until_over(&server, 1);
        assert_eq!(outcomes(&over), "1:merged 2:conflicted");
        let [first, second] = [&table.tasks[0], &table.tasks[1]];
        let named = json!([
            {"taskId": second, "key": "2", "files": ["shared"], "with": [first], "resolving": null}
        ]);
        assert_eq!(over["conflicts"], named);
        Self { table, server }
    }

    /// By the id of the task on the board.
    fn resolve(&self, action: &str) -> Response {
        let path = format!("/api/batches/1/tasks/{}/resolve", self.table.tasks[1]);
        self.server.post(&path, &json!({ "action": action }))
    }

    /// The states of the worktrees that are left.
    fn worktrees(&self) -> Vec<Value> {
        let trees = self.server.get("/api/batches/1/worktrees").good(200);
        let trees = trees["worktrees"].as_array().unwrap().iter();
        trees.map(|tree| tree["state"].clone()).collect()
    }

    #[track_caller]
    fn lay_out(&self) -> PathBuf {
        let laid_out = self.resolve("start").good(200);
        assert_eq!(laid_out["files"][0]["path"], "shared", "{laid_out}");
        laid_out["path"].as_str().unwrap().into()
    }
}

#[test]
fn what_a_person_made_of_a_conflict_is_woven_and_the_batch_completes() {
    alone(|| {
        let conflict = Conflict::new();
        assert_eq!(conflict.resolve("done").bad(409), "not_begun");
        let path = conflict.lay_out();
        let text = fs::read_to_string(path.join("shared")).unwrap();
        assert!(text.contains("<<<<<<<"), "{text}");
        assert!(
            conflict.worktrees().contains(&json!("resolving")),
            "{:?}",
            conflict.worktrees()
        );
        let shown = conflict.server.get("/api/batches/1").good(200);
        let laid_out = json!({ "path": path });
        assert_eq!(shown["conflicts"][0]["resolving"], laid_out);
        let again = conflict.resolve("start").good(200);
        assert_eq!(again["begunBefore"], true);
        assert_eq!(conflict.resolve("done").bad(409), "unresolved");
        fs::write(path.join("shared"), "1 and 2\n").unwrap();
        let done = conflict.resolve("done").good(200);
        assert_eq!(done["message"], "task 2 is merged");
        let over = until_over(&conflict.server, 1);
        assert_eq!(
            (&over["status"], outcomes(&over).as_str()),
            (&json!("completed"), "1:merged 2:merged")
        );
        assert_eq!(over["conflicts"], json!([]));
        assert_eq!(conflict.table.marks(), "completed completed");
        let scene = &conflict.table.scene;
        assert_eq!(scene.show("pleach/batch-1", "shared"), "1 and 2");
        assert_eq!(scene.show("pleach/batch-1", "own-2"), "2");
        assert_eq!(conflict.resolve("start").bad(409), "not_conflicted");
        check_no_worktree_is_left(state().path());
    });
}

#[test]
fn a_conflict_that_a_person_gives_up_stays_left_out() {
    alone(|| {
        let conflict = Conflict::new();
        let before = conflict.server.get("/api/batches/1").good(200);
        let path = conflict.lay_out();
        fs::write(path.join("shared"), "half done\n").unwrap();
        let left = conflict.resolve("abort").good(200);
        assert_eq!(left["message"], "task 2 remains left out");
        assert!(!path.exists());
        assert_eq!(outcomes(&left), "1:merged 2:conflicted");
        assert_eq!(left["conflicts"], before["conflicts"]);
        assert_eq!(conflict.table.marks(), "completed pending");
        assert_eq!(conflict.table.scene.show("pleach/batch-1", "shared"), "1");
        assert_eq!(conflict.resolve("abort").bad(409), "not_begun");
    });
}

#[test]
fn a_conflict_is_resolved_while_the_rest_of_the_batch_still_runs() {
    alone(|| {
        let shell = format!("[ $PLEACH_TASK = 3 ] || {{ {SHELL}; exit; }}; {WAIT}; echo x > late");
        let table = Table::new(3, "land = \"none\"", &shell);
        let mut gate = Gate::at(&table.scene);
        table.scene.repo.write("shared", "nobody\n");
        table.scene.repo.commit("a file that all write");
        let server = table.serve();
        table.start(&server, &json!({"maxConcurrent": 1}));
        assert_eq!(gate.wait_for(1), "3");
        let conflict = Conflict { table, server };
        let path = conflict.lay_out();
        fs::write(path.join("shared"), "1 and 2\n").unwrap();
        let done = conflict.resolve("done").good(200);
        assert_eq!(outcomes(&done), "1:merged 2:merged 3:none");
        assert_eq!(done["status"], "running");
        gate.let_go(1);
        let over = until_over(&conflict.server, 1);
        assert_eq!(outcomes(&over), "1:merged 2:merged 3:merged");
        let scene = &conflict.table.scene;
        assert_eq!(scene.show("pleach/batch-1", "shared"), "1 and 2");
        assert_eq!(scene.show("pleach/batch-1", "late"), "x");
    });
}
