//! An agent that speaks to the socket of the batch it works for.

use serde_json::Value;

use super::sandboxed;
use crate::hostile::processes::without_landlock::{UNSHARE, with_refused};
use crate::pleach;
use crate::scene::{Scene, Story};

/// Sends each line of `BESIDE/out/ask` as a request, and writes the answers to `BESIDE/out/answers`.
const SEND: &str = r#"cat > send.py <<'END'
import os, socket
folder = os.path.join(os.environ["HOME"], ".local/state/pleach/batches/1")
requests = open("BESIDE/out/ask").read().splitlines()
answers = open("BESIDE/out/answers", "w")
for name in ["lock", "key"]:
    try:
        text = open(os.path.join(folder, name)).read().split()
        print("READ", name, file=answers)
        requests += [r.replace("GUESS", text[-1]) for r in requests]
    except OSError:
        pass
for request in requests:
    try:
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(20)
        s.connect(os.path.join(folder, "socket"))
        s.sendall(request.encode() + b"\n")
        print(s.makefile().readline().strip(), file=answers)
    except OSError as error:
        print("failed", error, file=answers)
END
python3 send.py; rm send.py"#;

fn answers(scene: &Scene) -> String {
    std::fs::read_to_string(scene.repo.beside("out/answers")).unwrap()
}

/// No request was granted, and the key was not read; who comes to the door is told of.
#[track_caller]
fn check_refused(scene: &Scene, requests: usize) {
    let answers = answers(scene);
    assert_eq!(answers.lines().count(), requests, "{answers}");
    for answer in answers.lines() {
        let told: Value = serde_json::from_str(answer).unwrap_or_else(|_| panic!("{answer}"));
        assert_eq!(told["refused"]["code"], "bad_key", "{answer}");
    }
}

/// The socket is not there at all.
#[track_caller]
fn check_hidden(scene: &Scene, requests: usize) {
    let answers = answers(scene);
    let failed = answers
        .lines()
        .filter(|answer| answer.starts_with("failed "));
    assert_eq!(failed.count(), requests, "{answers}");
}

#[track_caller]
fn check_told(story: &Story) {
    let notes = story.notes();
    assert!(notes.contains("without this batch's key"), "{notes}");
}

fn state_of(scene: &Scene, task: &str) -> String {
    let status = pleach(scene.repo.path(), &scene.home(), &["status", "1", "--json"]);
    let status = status.json();
    let tasks = status["batches"][0]["tasks"].as_array().unwrap();
    let found = tasks.iter().find(|known| known["key"] == task);
    found.unwrap()["state"].as_str().unwrap().to_owned()
}

/// Task 1 changes what steers agents, so that 2 waits for a person; 3 approves in that person's place. `check` looks at
/// how many requests were answered, and how.
#[track_caller]
fn try_to_approve(sandbox: &str, check: impl Fn(&Scene, usize)) -> Story {
    let shell = format!(
        "case $PLEACH_TASK in 1) echo evil > CLAUDE.md;; \
         3) echo 3 > BESIDE/arrived; read go < BESIDE/gate; {SEND}\n;; esac; echo x > done-$PLEACH_TASK"
    );
    let (scene, mut gate) = sandboxed("1, 2 1, 3", sandbox, &shell);
    let zeros = "0".repeat(64);
    let requests = [
        "\"approve\"".to_owned(),
        r#"{"key":null,"request":"approve"}"#.to_owned(),
        r#"{"key":"","request":"approve"}"#.to_owned(),
        format!(r#"{{"key":"{zeros}","request":"approve"}}"#),
        r#"{"key":"GUESS","request":"approve"}"#.to_owned(),
        r#"{"retry":{"tasks":[]}}"#.to_owned(),
        r#"{"cancel":{"task":null,"rollback":"remove"}}"#.to_owned(),
    ];
    std::fs::write(scene.repo.beside("out/ask"), requests.join("\n")).unwrap();
    let mut running = scene.start(&[]);
    gate.wait_for(1);
    running.wait_for("batch:task:waiting");
    gate.let_go(1);
    running.wait_for("batch:task:completed");
    while state_of(&scene, "3") != "merged" {
        std::thread::yield_now();
    }
    check(&scene, requests.len());
    assert_eq!(state_of(&scene, "2"), "waiting");
    pleach(scene.repo.path(), &scene.home(), &["approve", "1"]).good();
    let story = running.story();
    story.check(0, "1:merged 2:merged 3:merged");
    story
}

// Without namespaces nothing hides the socket, so that the key alone is between an agent and the batch.

#[test]
fn an_agent_cannot_approve_in_place_of_a_person() {
    let story = with_refused(&[UNSHARE], || try_to_approve("landlock", check_refused));
    check_told(&story);
}

#[test]
fn an_agent_in_the_strict_sandbox_cannot_approve_either() {
    let story = with_refused(&[UNSHARE], || try_to_approve("strict", check_refused));
    check_told(&story);
}

#[test]
fn where_namespaces_are_allowed_the_socket_is_hidden_besides() {
    try_to_approve("landlock", check_hidden);
}

/// 1 and 2 conflict, and 3 offers a commit of its own as what a person made of it.
#[test]
fn an_agent_cannot_resolve_the_conflict_of_another_task() {
    with_refused(&[UNSHARE], try_to_resolve);
}

fn try_to_resolve() {
    let shell = format!(
        r#"case $PLEACH_TASK in 1|2) echo $PLEACH_TASK > shared;;
        3) echo 3 > BESIDE/arrived; read go < BESIDE/gate
           echo evil > evil; git add evil; git -c user.name=e -c user.email=e@e commit -qm evil
           for task in 1 2; do
             wish=$(printf '{{"resolve":{{"task":"%s","commit":"%s","basis":"%s"}}}}' $task $(git rev-parse HEAD HEAD~1))
             printf '%s\n{{"key":"%064d","request":%s}}\n' "$wish" 0 "$wish"
           done > BESIDE/out/ask
           git reset -q --hard HEAD~1; {SEND}
           ;; esac; echo x > done-$PLEACH_TASK"#
    );
    let (scene, mut gate) = sandboxed("1, 2, 3", "landlock", &shell);
    let mut running = scene.start(&[]);
    gate.wait_for(1);
    running.wait_for("\"conflicted\"");
    gate.let_go(1);
    let story = running.story();
    let outcomes = story.outcomes();
    let either = [
        "1:merged 2:conflicted 3:merged",
        "1:conflicted 2:merged 3:merged",
    ];
    assert!(either.contains(&outcomes.as_str()), "{outcomes}");
    assert!(!scene.new_files("pleach/batch-1").contains("evil"));
    check_refused(&scene, 4);
    check_told(&story);
}
