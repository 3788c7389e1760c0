//! Projects, tasks, plans, settings and agents over HTTP.

use std::fs;
use std::path::Path;
use std::time::Duration;

use pleach_server::Consent;
use pleach_testkit::{Response, Scene, own_home};
use serde_json::{Value, json};

use crate::alone;
use crate::serving::Serving;

/// How often somebody saves while tasks are marked, and how fast.
const SAVES: usize = 40;
const TYPING: Duration = Duration::from_millis(10);

/// A server and the project it serves.
struct Board {
    server: Serving,
    project: String,
    scene: Scene,
}

impl Board {
    fn new(plan: &str) -> Self {
        let scene = Scene::new(plan, "true");
        let server = Serving::of(&scene, Consent::Asked);
        let path = scene.repo.path().display().to_string();
        let project = server
            .post("/api/projects", &json!({"path": path}))
            .good(201);
        Self {
            project: project["id"].as_str().unwrap().to_owned(),
            server,
            scene,
        }
    }

    fn create(&self, title: &str) -> Value {
        let body = json!({"projectId": self.project, "title": title});
        self.server.post("/api/tasks", &body).good(201)
    }

    fn import(&self, path: &str) -> Value {
        let body = json!({"projectId": self.project, "path": path});
        let imported = self.server.post("/api/tasks/import", &body).good(200);
        imported["tasks"].clone()
    }

    fn patch(&self, task: &Value, change: &Value) -> Response {
        let path = format!("/api/tasks/{}", task["id"].as_str().unwrap());
        self.server.ask("PATCH", &path, Some(change), &[])
    }

    fn tasks(&self) -> Value {
        let path = format!("/api/tasks?project={}", self.project);
        self.server.get(&path).good(200)["tasks"].clone()
    }
}

/// Status, code and field paths of a refusal, which has a hint.
#[track_caller]
fn told(answer: &Response) -> String {
    let code = answer.bad(answer.status);
    let fields = answer.json()["error"]["fields"].clone();
    let fields = fields.as_array().cloned().unwrap_or_default();
    let fields: Vec<&str> = fields
        .iter()
        .map(|field| field["path"].as_str().unwrap())
        .collect();
    format!("{} {code} {}", answer.status, fields.join(" "))
        .trim()
        .to_owned()
}

/// Calls, and how they are refused; PROJECT and TASK are there, MANY is too much.
const WRONG: &str = r#"
POST /api/projects {} -> 400 bad_body path
PUT /api/projects/PROJECT/plan [] -> 400 bad_body
PUT /api/projects/PROJECT/plan null -> 400 bad_body
POST /api/projects {"path": "a", "url": "b"} -> 400 bad_body path
POST /api/projects {"path": 1} -> 400 bad_body path
POST /api/projects {"path": "relative"} -> 422 not_a_folder path
POST /api/projects {"path": "/no/such"} -> 422 not_a_folder path
POST /api/projects {"url": "ext::sh -c x"} -> 422 bad_url url
GET /api/projects/nowhere -> 404 project_not_found
GET /api/projects/..%2Fx -> 400 bad_id
PATCH /api/projects/PROJECT {"name": ""} -> 422 out_of_range name
PATCH /api/projects/PROJECT {"colour": "red"} -> 400 bad_body colour
DELETE /api/projects/nowhere -> 404 project_not_found
GET /api/tasks -> 400 bad_query
GET /api/tasks?project=nowhere -> 404 project_not_found
POST /api/tasks {"projectId": "PROJECT"} -> 400 bad_body
POST /api/tasks {"projectId": "nowhere", "title": "a"} -> 404 project_not_found
POST /api/tasks {"projectId": "PROJECT", "title": "a\nb", "labels": MANY} -> 422 out_of_range title labels
POST /api/tasks {"projectId": "PROJECT", "title": "a", "priority": "huge"} -> 400 bad_body priority
POST /api/tasks {"projectId": "PROJECT", "title": "a", "dependsOn": ["nobody"]} -> 422 unknown_dependency dependsOn[0]
POST /api/tasks {"projectId": "PROJECT", "title": "a", "size": "huge"} -> 422 unknown_size size
PATCH /api/tasks/TASK {"size": "defualt"} -> 422 unknown_size size
PATCH /api/tasks/TASK {"dependsOn": ["TASK"]} -> 422 self_dependency dependsOn[0]
PATCH /api/tasks/TASK {"status": "merged"} -> 400 bad_body status
PATCH /api/tasks/TASK {"key": "9"} -> 400 bad_body key
PATCH /api/tasks/nobody {} -> 404 task_not_found
DELETE /api/tasks/nobody -> 404 task_not_found
POST /api/tasks/import {"projectId": "PROJECT"} -> 400 bad_body markdown
POST /api/tasks/import {"projectId": "PROJECT", "path": "../x.md"} -> 422 bad_path path
POST /api/tasks/import {"projectId": "PROJECT", "markdown": "- [ ] a\n- [ ] a\n"} -> 422 duplicate_id markdown
GET /api/projects/PROJECT/plan -> 404 no_plan
PUT /api/projects/PROJECT/plan {"tasks": [{"title": "a"}]} -> 400 bad_body tasks[0]
PUT /api/projects/PROJECT/plan {"tasks": [{"id": "a", "depends_on": ["b"]}]} -> 422 unknown_dependency tasks[0].depends_on[0]
GET /api/settings?project=nowhere -> 404 project_not_found
PATCH /api/settings {"maxBatchSize": 65, "parallelLimit": 0} -> 422 out_of_range maxBatchSize parallelLimit
PATCH /api/settings {"colour": 1} -> 400 bad_body colour
PATCH /api/settings {"conflictBehavior": "pray"} -> 400 bad_body conflictBehavior
"#;

#[test]
fn what_is_wrong_with_a_call_is_told_with_its_code_and_fields() {
    alone(|| {
        let board = Board::new("- [ ] dig\n");
        let task = board.create("a");
        let many = json!(vec!["x"; 51]).to_string();
        let calls = WRONG.replace("PROJECT", &board.project);
        let calls = calls.replace("TASK", task["id"].as_str().unwrap());
        for line in calls.trim().lines() {
            let (call, expected) = line.split_once(" -> ").unwrap();
            let words: Vec<&str> = call.splitn(3, ' ').collect();
            let body = words.get(2).map(|body| body.replace("MANY", &many));
            let body: Option<Value> = body.map(|body| serde_json::from_str(&body).unwrap());
            let answer = board.server.ask(words[0], words[1], body.as_ref(), &[]);
            assert_eq!(told(&answer), expected, "{line}");
        }
        assert_eq!(
            board.tasks().as_array().unwrap().len(),
            1,
            "nothing happened"
        );
    });
}

#[test]
fn a_task_lives_from_its_making_to_its_end() {
    alone(|| {
        let board = Board::new("");
        let first = board.create("first");
        assert_eq!(
            (&first["key"], &first["plan"], &first["batch"]),
            (&json!("1"), &json!(null), &json!(null))
        );
        let second = board.create("second");
        let change = json!({"dependsOn": [first["id"]], "labels": ["x"], "priority": "high", "description": "more"});
        let changed = board.patch(&second, &change).good(200);
        for field in ["dependsOn", "labels", "priority", "description"] {
            assert_eq!(changed[field], change[field]);
        }
        let path = format!("/api/tasks/{}", first["id"].as_str().unwrap());
        board.server.ask("DELETE", &path, None, &[]).good(204);
        assert_eq!(board.server.get(&path).bad(404), "task_not_found");
        assert_eq!(board.tasks()[0]["dependsOn"], json!([]));
    });
}

#[test]
fn a_project_is_renamed_hidden_and_brought_back() {
    alone(|| {
        let board = Board::new("");
        let path = format!("/api/projects/{}", board.project);
        let name = json!({"name": "Garden"});
        let renamed = board.server.ask("PATCH", &path, Some(&name), &[]).good(200);
        assert_eq!(
            (&renamed["name"], &renamed["isRepository"]),
            (&json!("Garden"), &json!(true))
        );
        board.server.ask("DELETE", &path, None, &[]).good(204);
        assert_eq!(
            board.server.get("/api/projects").good(200),
            json!({"projects": []})
        );
        let folder = json!({"path": board.scene.repo.path()});
        let back = board.server.post("/api/projects", &folder).good(201);
        assert_eq!(back["name"], "Garden");
    });
}

#[test]
fn an_address_is_cloned_in_the_background() {
    alone(|| {
        let board = Board::new("- [ ] dig\n");
        let url = format!("file://{}", board.scene.repo.path().display());
        let answer = board.server.post("/api/projects", &json!({"url": url}));
        assert!(matches!(answer.status, 201 | 202), "{}", answer.text());
        let id = answer.json()["id"].as_str().unwrap().to_owned();
        let path = format!("/api/projects/{id}");
        let cloned = board
            .server
            .until(&path, |project| project["status"] != "cloning");
        assert_eq!(
            (&cloned["status"], &cloned["url"]),
            (&json!("ready"), &json!(url))
        );
        let body = json!({"projectId": id, "path": "TODO.md"});
        let imported = board.server.post("/api/tasks/import", &body).good(200);
        assert_eq!(imported["tasks"][0]["title"], "dig");
    });
}

#[test]
fn an_execution_plan_is_put_and_comes_back() {
    alone(|| {
        let board = Board::new("");
        let path = format!("/api/projects/{}/plan", board.project);
        let plan = json!({
            "batches": [{"batch_id": 1, "task_ids": ["a"], "can_parallel": false}],
            "tasks": [{"id": "a", "title": "A", "prompt": "do", "depends_on": [], "files": []}],
        });
        assert_eq!(
            board.server.ask("PUT", &path, Some(&plan), &[]).good(200),
            plan
        );
        assert_eq!(board.server.get(&path).good(200), plan);
        assert_eq!(board.tasks()[0]["key"], "a");
    });
}

#[test]
fn settings_that_are_changed_at_once_are_all_kept() {
    alone(|| {
        let board = Board::new("");
        let change = |body: Value| {
            let path = "/api/settings";
            board.server.ask("PATCH", path, Some(&body), &[]).good(200);
        };
        std::thread::scope(|scope| {
            scope.spawn(|| (1..=10).for_each(|size| change(json!({"maxBatchSize": size}))));
            scope.spawn(|| (1..=10).for_each(|most| change(json!({"parallelLimit": most}))));
            scope.spawn(|| (1..=10).for_each(|at| change(json!({"stopOnFailure": at % 2 == 0}))));
            scope
                .spawn(|| (1..=10).for_each(|at| change(json!({"queueAutoApprove": at % 2 == 0}))));
        });
        let settings = board.server.get("/api/settings").good(200);
        let value = |name: &str| settings[name].clone();
        assert_eq!(
            (
                value("maxBatchSize"),
                value("parallelLimit"),
                value("stopOnFailure"),
                value("queueAutoApprove")
            ),
            (json!(10), json!(10), json!(true), json!(true))
        );
    });
}

#[test]
fn settings_are_shown_with_their_source_and_written_to_the_users_file() {
    alone(|| {
        let board = Board::new("");
        let file = own_home().join(".config/pleach/config.toml");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "# mine\nstop_on_failure = true # yes\n").unwrap();
        let settings = board.server.get("/api/settings").good(200);
        assert_eq!(
            settings,
            json!({
                "maxBatchSize": 3, "parallelLimit": 8, "queueAutoApprove": false, "stopOnFailure": true,
                "conflictBehavior": "skip", "where": "local", "overridden": {},
                "sources": {
                    "maxBatchSize": "default", "parallelLimit": "default", "queueAutoApprove": "default",
                    "stopOnFailure": "config.toml", "conflictBehavior": "default", "where": "default",
                },
            })
        );
        let change =
            json!({"maxBatchSize": 5, "conflictBehavior": "rerun", "stopOnFailure": false});
        let changed = board
            .server
            .ask("PATCH", "/api/settings", Some(&change), &[])
            .good(200);
        assert_eq!(changed["maxBatchSize"], 5);
        assert_eq!(changed["sources"]["maxBatchSize"], "config.toml");
        assert_eq!(changed["conflictBehavior"], "rerun");
        let text = fs::read_to_string(&file).unwrap();
        assert!(
            text.starts_with("# mine\nstop_on_failure = false # yes\n"),
            "{text}"
        );
        board
            .scene
            .configure("retries = 0\nmax_parallel = 2", "true");
        let here = format!("/api/settings?project={}", board.project);
        let shown = board.server.get(&here).good(200);
        assert_eq!(shown["maxBatchSize"], 2);
        assert_eq!(shown["sources"]["maxBatchSize"], "pleach.toml");
        let own = json!({"maxBatchSize": {"value": 5, "source": "config.toml"}});
        assert_eq!(shown["overridden"], own);
    });
}

#[test]
fn what_the_settings_answer_can_be_sent_back_and_changes_nothing() {
    alone(|| {
        let board = Board::new("");
        board
            .scene
            .configure("retries = 0\nmax_parallel = \"auto\"", "true");
        let file = own_home().join(".config/pleach/config.toml");
        let here = format!("/api/settings?project={}", board.project);
        let shown = board.server.get(&here).good(200);
        assert_eq!(shown["maxBatchSize"], "auto");
        let patch = |body: &Value| board.server.ask("PATCH", &here, Some(body), &[]).good(200);
        assert_eq!(patch(&shown), shown);
        assert!(!file.exists(), "{}", fs::read_to_string(&file).unwrap());
        patch(&json!({"maxBatchSize": "auto"}));
        assert_eq!(
            fs::read_to_string(&file).unwrap(),
            "max_parallel = \"auto\"\n"
        );
        patch(&json!({"maxBatchSize": 64}));
        assert_eq!(fs::read_to_string(&file).unwrap(), "max_parallel = 64\n");
    });
}

#[test]
fn a_batch_may_have_more_tasks_at_once_where_batches_run_on_a_cluster() {
    alone(|| {
        let board = Board::new("");
        let patch = |body: Value| board.server.ask("PATCH", "/api/settings", Some(&body), &[]);
        let both = patch(json!({"where": "slurm", "maxBatchSize": 65})).good(200);
        assert_eq!(
            (&both["where"], &both["maxBatchSize"]),
            (&json!("slurm"), &json!(65))
        );
        assert_eq!(
            patch(json!({"maxBatchSize": 500})).good(200)["maxBatchSize"],
            500
        );
        let beyond = patch(json!({"maxBatchSize": 501, "parallelLimit": 65}));
        assert_eq!(told(&beyond), "422 out_of_range maxBatchSize parallelLimit");
        let back = patch(json!({"where": "local", "maxBatchSize": 65}));
        assert_eq!(told(&back), "422 out_of_range maxBatchSize");
        patch(json!({"where": "local", "maxBatchSize": 64})).good(200);
    });
}

#[test]
fn agents_that_are_configured_come_first() {
    alone(|| {
        let board = Board::new("");
        let path = format!("/api/agents?project={}", board.project);
        let agents = board.server.get(&path).good(200)["agents"].clone();
        let first = &agents[0];
        assert_eq!(
            (&first["found"], &first["configured"], &first["isDefault"]),
            (&json!(true), &json!(true), &json!(true))
        );
        let names: Vec<&str> = agents
            .as_array()
            .unwrap()
            .iter()
            .map(|agent| agent["name"].as_str().unwrap())
            .collect();
        assert!(names.contains(&"claude"), "{names:?}");
        assert_eq!(
            (&first["login"], &first["preset"]),
            (&json!("unknown"), &json!(null))
        );
        let claude = names.iter().position(|name| *name == "claude").unwrap();
        let claude = &agents[claude];
        assert_eq!(
            (&claude["title"], &claude["preset"], &claude["login"]),
            (&json!("Claude Code"), &json!("claude"), &json!("missing"))
        );
        assert!(
            claude["hint"]
                .as_str()
                .unwrap()
                .contains("ANTHROPIC_API_KEY"),
            "{claude}"
        );
        assert!(
            claude["install"].as_str().unwrap().starts_with("npm "),
            "{claude}"
        );
    });
}

#[test]
fn a_task_of_a_file_says_where_it_is_to_be_changed() {
    alone(|| {
        let board = Board::new("# Plan\n\n- [ ] dig\n");
        let dig = &board.import("TODO.md")[0];
        let answer = board.patch(dig, &json!({"title": "sow"}));
        assert_eq!(answer.bad(409), "task_of_plan_file");
        assert_eq!(answer.json()["error"]["hint"], "edit it in TODO.md:3");
        let answer = board.patch(dig, &json!({"status": "in_progress"}));
        assert_eq!(answer.bad(422), "cannot_hold");
    });
}

/// Saves as editors do: another file takes the name.
fn save(path: &Path, text: &str) {
    let other = path.with_extension("saving");
    fs::write(&other, text).unwrap();
    fs::rename(&other, path).unwrap();
}

#[test]
fn a_person_who_saves_while_a_task_is_marked_loses_nothing() {
    alone(|| {
        let board = Board::new("- [ ] dig\n- [ ] sow\n");
        let tasks = board.import("TODO.md");
        let path = board.scene.repo.path().join("TODO.md");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for line in 1..=SAVES {
                    // Reads what is there and adds a line, as somebody does who types and saves.
                    let text = fs::read_to_string(&path).unwrap();
                    save(&path, &format!("{text}- [ ] weed bed {line}\n"));
                    std::thread::sleep(TYPING);
                }
            });
            for task in tasks.as_array().unwrap() {
                let answer = board.patch(task, &json!({"status": "completed"}));
                assert_eq!(answer.status, 200, "{}", answer.text());
            }
        });
        let text = fs::read_to_string(&path).unwrap();
        for line in 1..=SAVES {
            let wanted = format!("- [ ] weed bed {line}\n");
            assert_eq!(text.matches(&wanted).count(), 1, "{wanted}{text}");
        }
    });
}

#[test]
fn what_a_person_writes_into_the_file_is_on_the_board_soon_and_the_other_way_round() {
    alone(|| {
        let board = Board::new("- [ ] dig\n- [ ] sow\n");
        let known = board.server.get("/api/projects").good(200);
        assert_eq!(
            known["projects"][0]["id"], board.project,
            "it was started there"
        );
        let dig = board.import("TODO.md")[0].clone();
        let mut events = board.server.listen("/api/events", &[]).unwrap();
        let path = board.scene.repo.path().join("TODO.md");
        save(&path, "- [ ] weed\n- [ ] dig\n- [x] sow\n");
        let tasks = format!("/api/tasks?project={}", board.project);
        let now = board
            .server
            .until(&tasks, |now| now["tasks"].as_array().unwrap().len() == 3);
        let named = |title: &str| {
            let mut tasks = now["tasks"].as_array().unwrap().iter();
            tasks.find(|task| task["title"] == title).unwrap().clone()
        };
        assert_eq!(
            named("dig")["id"],
            dig["id"],
            "it has moved and is the same"
        );
        assert_eq!(named("sow")["status"], "completed");
        let mut heard = Vec::new();
        while heard.len() < 3 {
            heard.push(events.next_event().unwrap().event);
        }
        heard.sort();
        assert_eq!(heard, ["task:created", "task:updated", "task:updated"]);
        let marked = board.patch(&named("weed"), &json!({"status": "completed"}));
        assert_eq!(marked.status, 200, "{}", marked.text());
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            "- [x] weed\n- [ ] dig\n- [x] sow\n"
        );
    });
}
