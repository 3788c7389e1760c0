//! Secrets that agents, tests and errors repeat, and that no answer and no event of the server holds.

use std::cell::RefCell;

use pleach_server::Consent;
use pleach_testkit::{Response, outcomes, until_over};
use serde_json::{Value, json};

use crate::alone_with;
use crate::serving::Serving;
use crate::table::Table;

/// Passed on to agents by a name that says nothing.
const FOR_AGENTS: &str = "linnet-1/Zq7@x9Lm2+kPwT8";
/// Only in the environment of the server.
const OURS: &str = "linnet-5/Da3@i7Vj9+lNyC2";
/// In an address that somebody sends.
const IN_ADDRESS: &str = "linnet-3.Gt8-c2Wf7.eXoU4";

const VARIABLES: [(&str, &str); 2] = [("WANTED", FOR_AGENTS), ("SERVICE_TOKEN", OURS)];

/// Says what it was given in more than one way, and fails with it.
const TELL: &str = r#"echo "raw $WANTED"; echo "json {\"key\": \"$WANTED\"}"
first=$(echo "$WANTED" | cut -c 1-9); printf 'cut %s' "$first"; printf '%s\n' "${WANTED#"$first"}"
printf %s "$WANTED" | base64
echo x > file-$PLEACH_TASK; [ $PLEACH_TASK = 1 ] || { echo "died of $WANTED"; exit 1; }"#;

/// A server that has secrets, and everything that it ever said.
struct Cage {
    table: Table,
    server: Serving,
    said: RefCell<Vec<String>>,
}

impl Cage {
    fn new() -> Self {
        let table = Table::new(2, "land = \"none\"", TELL);
        let scene = &table.scene;
        let file = scene.repo.path().join("pleach.toml");
        let config = std::fs::read_to_string(&file).unwrap();
        let tests = "validate = \"echo tested with $WANTED\"\nvalidate_env = [\"WANTED\"]";
        let other = format!("[agents.other]\ncommand = [\"true\", \"{OURS}\"]");
        let config = format!("agent = \"shell\"\n{tests}\n{config}env = [\"WANTED\"]\n{other}\n");
        std::fs::write(file, config).unwrap();
        Self {
            server: Serving::of(scene, Consent::Asked),
            table,
            said: RefCell::default(),
        }
    }

    /// Asks, and remembers what was said.
    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Response {
        let answer = self.server.ask(method, path, body, &[]);
        let said = format!("{:?} {}", answer.headers, answer.text());
        self.said.borrow_mut().push(said);
        answer
    }

    fn get(&self, path: &str) -> Value {
        self.ask("GET", path, None).good(200)
    }

    fn post(&self, path: &str, body: &Value) -> Response {
        self.ask("POST", path, Some(body))
    }

    /// Consents to whatever it is shown.
    fn start(&self) {
        let mut body = json!({"taskIds": self.table.tasks, "maxConcurrent": 1});
        let refused = self.post("/api/batches", &body);
        assert_eq!(refused.bad(409), "no_consent");
        body["consent"] = refused.json()["error"]["details"]["fingerprint"].clone();
        self.post("/api/batches", &body).good(201);
    }

    /// Everything that is told from the very beginning up to the end of the batch.
    fn hear_all(&self) {
        let mut listener = self.server.listen("/api/events?from=0", &[]).unwrap();
        loop {
            let line = listener.line().unwrap();
            let is_last = line == "event: batch:completed";
            self.said.borrow_mut().push(line);
            if is_last {
                self.said.borrow_mut().push(listener.line().unwrap());
                return;
            }
        }
    }

    #[track_caller]
    fn check_clean(&self) {
        let said = self.said.borrow();
        for secret in [FOR_AGENTS, OURS, IN_ADDRESS, &base64(FOR_AGENTS)] {
            let line = said.iter().find(|line| line.contains(secret));
            assert_eq!(line, None, "{secret} was said");
        }
    }
}

fn base64(text: &str) -> String {
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "printf %s \"$SECRET\" | base64"]);
    let written = command.env("SECRET", text).output().unwrap().stdout;
    String::from_utf8(written).unwrap().trim().to_owned()
}

#[test]
fn what_an_agent_or_a_test_gives_away_is_in_no_answer_and_no_event() {
    alone_with(&VARIABLES, || {
        let cage = Cage::new();
        cage.start();
        let over = until_over(&cage.server, 1);
        assert_eq!(outcomes(&over), "1:merged 2:failed", "{over}");
        cage.hear_all();
        let shown = cage.get("/api/batches/1");
        assert_eq!(
            shown["tasks"][1]["error"],
            "the agent exited with 1: died of [hidden:WANTED]"
        );
        let log = cage.get("/api/batches/1/tasks/1/log");
        let lines = log["entries"].as_array().unwrap().iter();
        let lines: Vec<_> = lines.map(|entry| entry["text"].as_str().unwrap()).collect();
        assert_eq!(
            lines,
            [
                "raw [hidden:WANTED]",
                "json {\"key\": \"[hidden:WANTED]\"}",
                "cut [hidden:WANTED]",
                "[hidden:WANTED]"
            ]
        );
        let tested = cage.get("/api/batches/1/validation");
        assert_eq!(tested["log"]["text"], "tested with [hidden:WANTED]\n");
        let project = &cage.table.project;
        for path in [
            "/api/batches?status=all",
            "/api/batches/1/tasks/2/log",
            "/api/batches/1/tasks/2/diff",
            "/api/batches/1/diff",
            "/api/batches/1/plan",
            "/api/batches/1/worktrees",
            "/api/projects",
            "/api/settings",
            "/api/agents",
            &format!("/api/tasks?project={project}"),
            &format!("/api/settings?project={project}"),
            &format!("/api/agents?project={project}"),
        ] {
            cage.get(path);
        }
        cage.ask("GET", "/metrics", None);
        cage.check_clean();
    });
}

#[test]
fn an_error_does_not_repeat_a_secret() {
    alone_with(&VARIABLES, || {
        let cage = Cage::new();
        let batch = |what: Value| {
            let mut body = json!({"taskIds": cage.table.tasks});
            let what = what.as_object().unwrap().clone();
            body.as_object_mut().unwrap().extend(what);
            cage.post("/api/batches", &body)
        };
        assert_eq!(batch(json!({ "base": OURS })).bad(422), "base_not_found");
        assert_eq!(batch(json!({ "agent": OURS })).bad(422), "unknown_agent");
        assert_eq!(batch(json!({ "mode": OURS })).bad(400), "bad_body");
        assert_eq!(batch(json!({ OURS: 1 })).bad(400), "bad_body");
        let path = format!("/none/{OURS}");
        let folder = cage.post("/api/projects", &json!({ "path": path }));
        assert_eq!(folder.bad(422), "not_a_folder");
        let body = json!({"projectId": cage.table.project, "path": OURS});
        let import = cage.post("/api/tasks/import", &body);
        assert!((400..500).contains(&import.status), "{}", import.text());
        cage.ask("GET", &format!("/api/tasks?project={OURS}"), None);
        cage.check_clean();
    });
}

#[test]
fn a_login_in_an_address_is_neither_shown_nor_told_when_it_fails() {
    alone_with(&VARIABLES, || {
        let cage = Cage::new();
        let url = format!("http://ann:{IN_ADDRESS}@127.0.0.1:9/none.git");
        let made = cage.post("/api/projects", &json!({ "url": url })).good(202);
        let path = format!("/api/projects/{}", made["id"].as_str().unwrap());
        let failed = cage
            .server
            .until(&path, |project| project["status"] != "cloning");
        assert_eq!(failed["status"], "failed", "{failed}");
        cage.get(&path);
        let body = json!({"projectId": made["id"], "title": "dig"});
        let task = cage.post("/api/tasks", &body).good(201)["id"].clone();
        let run = format!("/api/tasks/{}/run", task.as_str().unwrap());
        assert_eq!(cage.post(&run, &json!({})).bad(409), "not_cloned");
        for bad in [
            format!("ftp://ann:{IN_ADDRESS}@host.example/x"),
            format!("https://host.example/x?token={IN_ADDRESS}"),
            format!("ext::sh -c {IN_ADDRESS}"),
        ] {
            let refused = cage.post("/api/projects", &json!({ "url": bad }));
            assert_eq!(refused.bad(422), "bad_url");
        }
        cage.check_clean();
    });
}
