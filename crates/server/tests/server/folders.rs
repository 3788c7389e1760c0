//! A folder that is no repository, over HTTP: refused in parallel, worked on in place one by one.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use pleach_server::Consent;
use pleach_testkit::{Scene, outcomes, until_over};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::alone;
use crate::serving::{Serving, trust};
use crate::table::board;

#[test]
fn a_folder_without_git_takes_a_queue_and_refuses_what_runs_at_once() {
    alone(|| {
        let place = TempDir::new().unwrap();
        let root = place.path().canonicalize().unwrap();
        let folder = root.join("garden");
        fs::create_dir(&folder).unwrap();
        let shell = "echo \"$PLEACH_TASK\" >> order";
        let words = json!(["sh", "-c", shell]);
        let config = format!("retries = 0\n[agents.shell]\ncommand = {words}\n");
        fs::write(folder.join("pleach.toml"), config).unwrap();
        let server = Serving::start(&root, Consent::Given, &[]);
        let project = server
            .post("/api/projects", &json!({ "path": folder }))
            .good(201);
        assert_eq!(project["isRepository"], false, "{project}");
        let task = |title: &str| {
            let body = json!({"projectId": project["id"], "title": title});
            server.post("/api/tasks", &body).good(201)["id"].clone()
        };
        let tasks = [task("dig"), task("sow")];
        let ask = |options: Value| {
            let mut body = json!({ "taskIds": tasks });
            let options = options.as_object().unwrap().clone();
            body.as_object_mut().unwrap().extend(options);
            server.post("/api/batches", &body)
        };
        for options in [json!({"mode": "parallel"}), json!({})] {
            let refused = ask(options);
            assert_eq!(refused.bad(409), "needs_repository");
            let hint = refused.json()["error"]["hint"].clone();
            assert!(hint.as_str().unwrap().contains("queue"), "{hint}");
        }
        let alone = format!("/api/tasks/{}/run", tasks[0].as_str().unwrap());
        assert_eq!(server.post(&alone, &json!({})).bad(409), "needs_repository");
        let none = server.get("/api/batches?status=all").good(200);
        assert_eq!(none, json!({"batches": []}));
        let queue = json!({"mode": "queue", "autoApprove": true});
        // Whoever may make requests could name any folder of the user's.
        assert_eq!(ask(queue.clone()).bad(403), "needs_trust");
        trust(&folder);
        ask(queue).good(201);
        let over = until_over(&server, 1);
        assert_eq!(outcomes(&over), "1:merged 2:merged", "{over}");
        let order = fs::read_to_string(folder.join("order")).unwrap();
        assert_eq!(order, "1\n2\n");
        assert_eq!(over["batchBranch"], Value::Null);
        assert_eq!(server.get("/api/batches/1/diff").status, 200);
        let plan = json!({"tasks": [{"id": "a", "title": "A"}],
        "batches": [{"batch_id": 1, "task_ids": ["a"], "can_parallel": true}]});
        let of_project = format!("/api/projects/{}", project["id"].as_str().unwrap());
        let put = server.ask("PUT", &format!("{of_project}/plan"), Some(&plan), &[]);
        assert_eq!(put.status, 200, "{}", put.text());
        let start = server.post(&format!("{of_project}/parallel/start"), &json!({}));
        assert_eq!(start.bad(409), "needs_repository");
        let all = server.get("/api/batches?status=all").good(200);
        assert_eq!(all["batches"].as_array().unwrap().len(), 1);
    });
}

#[test]
fn a_folder_of_any_name_is_a_project_that_can_be_asked_for() {
    alone(|| {
        let scene = Scene::new("", "true");
        let place = TempDir::new().unwrap();
        let mut board = board();
        let names: [&[u8]; 5] = [
            b".dotfiles",
            b"_site",
            b"(old) app",
            "日本語".as_bytes(),
            b"\xff",
        ];
        let ids = names.map(|name| {
            let folder = place.path().join(OsStr::from_bytes(name));
            fs::create_dir(&folder).unwrap();
            board.add_folder(&folder).unwrap().id
        });
        let server = Serving::of(&scene, Consent::Given);
        for id in ids {
            for path in [
                format!("/api/projects/{id}"),
                format!("/api/tasks?project={id}"),
                format!("/api/settings?project={id}"),
            ] {
                server.get(&path).good(200);
            }
            let gone = server.ask("DELETE", &format!("/api/projects/{id}"), None, &[]);
            assert!(gone.status < 300, "{id}: {}", gone.status);
        }
    });
}
