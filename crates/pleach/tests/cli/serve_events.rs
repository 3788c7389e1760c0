//! What clients of the server hear: everything, in order, once, whatever is cut, killed or slow.

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use pleach_log::database::{BoardEvent, Database, Logged};
use pleach_system::pace::PACE;
use pleach_system::state_folder::StateFolder;
use pleach_testkit::{Client, EventStream, ReceivedEvent, gate_or_night};
use serde_json::{Value, json};

use crate::held::Held;
use crate::scene::Scene;
use crate::serving::Serving;

const CUTS: usize = 50;
const KILLS: usize = 20;

fn database(scene: &Scene) -> Database {
    Database::open(&StateFolder::at(&scene.state()).unwrap()).unwrap()
}

/// How many times shorter than for people a server's waits are; at night, not at all.
fn pace() -> u32 {
    gate_or_night(10, 1)
}

/// A server whose waits are over soon.
fn soon(scene: &Scene) -> Serving {
    let words = ["serve", "--port", "0"];
    let mut command = crate::command(scene.repo.path(), &scene.home(), &words);
    Serving::by(command.env(PACE, pace().to_string()))
}

fn listen_from(client: &Client, from: &str) -> EventStream {
    client
        .listen("/api/events", &[("Last-Event-ID", from)])
        .unwrap()
}

/// The same of a server whose batch runs: a stream that only shows that it is alive means that nothing does.
fn listen_to_work(client: &Client, from: &str) -> EventStream {
    let listener = listen_from(client, from);
    let quiet = Duration::from_secs(14);
    listener.stream().set_read_timeout(Some(quiet)).unwrap();
    listener
}

/// Everything with a number, up to the first of that name.
#[track_caller]
fn all_until(listener: &mut EventStream, name: &str) -> Vec<ReceivedEvent> {
    let mut all = Vec::new();
    loop {
        let heard = listener.next_numbered().unwrap();
        let is_last = heard.event == name;
        all.push(heard);
        if is_last {
            return all;
        }
    }
}

fn numbers(heard: &[ReceivedEvent]) -> Vec<u64> {
    heard.iter().filter_map(|heard| heard.id).collect()
}

/// What a run told in its own terminal, as far as it is in the log.
fn told(output: &str) -> Vec<ReceivedEvent> {
    let lines = output
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let of_log = lines.filter(|line| line["id"].is_u64());
    let heard = of_log.map(|line| ReceivedEvent {
        id: line["id"].as_u64(),
        event: line["event"].as_str().unwrap().to_owned(),
        data: line["data"].clone(),
    });
    heard.collect()
}

#[test]
fn a_client_that_is_cut_and_a_server_that_is_killed_miss_nothing() {
    let tasks: Vec<String> = (1..=30).map(|task| task.to_string()).collect();
    let scene = Scene::of(&tasks.join(", "), "", "echo $PLEACH_TASK > $PLEACH_TASK");
    let mut server = Serving::of(&scene, &[]);
    let run = scene.start(&["-j", "3"]);
    let mut heard: Vec<ReceivedEvent> = Vec::new();
    let mut listener = listen_to_work(&server, "0");
    let (mut cuts, mut kills) = (0, 0);
    while cuts < CUTS || kills < KILLS {
        // One to three events between two interruptions.
        for _ in 0..=(cuts + kills) % 3 {
            heard.push(listener.next_numbered().unwrap());
        }
        let last = listener.last_id.clone();
        if (cuts + kills) % 7 < 2 && kills < KILLS {
            kills += 1;
            server.kill();
            server = Serving::of(&scene, &[]);
        } else {
            cuts += 1;
        }
        listener = listen_to_work(&server, &last);
    }
    heard.extend(all_until(&mut listener, "batch:completed"));
    let expected: Vec<u64> = (1..=heard.len() as u64).collect();
    assert_eq!(
        numbers(&heard),
        expected,
        "a gap, a double or a wrong order"
    );
    assert_eq!(database(&scene).last_seq().unwrap(), heard.len() as u64);
    let run = run.answer();
    let first = heard.remove(0);
    assert_eq!(first.event, "project:updated", "the server has it");
    assert_eq!(
        heard,
        told(&run.out),
        "a run tells its own terminal the same"
    );
    assert_eq!(heard[0].event, "batch:created");
    assert_eq!(heard[0].data["tasks"].as_array().unwrap().len(), 30);
    let summary = &heard.last().unwrap().data["summary"];
    assert_eq!(summary["merged"], 30, "{summary}");
    let progress = heard
        .iter()
        .rev()
        .find(|heard| heard.event == "batch:progress");
    let progress = &progress.unwrap().data;
    assert_eq!(
        (&progress["completed"], &progress["percentage"]),
        (&json!(30), &json!(100))
    );
}

#[test]
fn a_client_hears_of_its_batch_or_its_project_only() {
    let scene = Scene::of("1, 2", "", "echo $PLEACH_TASK > $PLEACH_TASK");
    assert_eq!(scene.run(&["1"]).code, 0);
    assert_eq!(scene.run(&["2"]).code, 0);
    let mut database = database(&scene);
    let project = database.load(1).unwrap().unwrap().project;
    let gone = |task: &str| BoardEvent::TaskDeleted { task: task.into() };
    database
        .note_board_event(Some("other"), &gone("a"))
        .unwrap();
    database.note_board_event(None, &gone("end")).unwrap();
    let entries = database.entries_after(0, 9_999).unwrap();
    let server = Serving::of(&scene, &[]);
    let of_log = |wanted: &dyn Fn(&Logged) -> bool| -> Vec<u64> {
        let wanted = entries.iter().filter(|entry| wanted(&entry.what));
        wanted.map(|entry| entry.seq).collect()
    };
    let hear = |query: &str, last: &str| {
        let mut listener = server
            .listen(&format!("/api/events?from=0&{query}"), &[])
            .unwrap();
        numbers(&all_until(&mut listener, last))
    };
    let second = of_log(&|what| matches!(what, Logged::Batch(stored) if stored.batch == 2));
    assert_eq!(hear("batch=2", "batch:completed"), second);
    let mut ours = of_log(&|what| matches!(what, Logged::Batch(_)));
    ours.push(entries.last().unwrap().seq);
    assert_eq!(hear(&format!("project={project}"), "task:deleted"), ours);
    let last_two: Vec<u64> = entries[entries.len() - 2..]
        .iter()
        .map(|entry| entry.seq)
        .collect();
    assert_eq!(hear("project=other", "task:deleted"), last_two[..1]);
}

#[test]
fn a_client_that_reads_nothing_harms_nobody_and_is_dropped() {
    const LARGE: usize = 200 << 10;
    const EVENTS: u64 = 100;
    let scene = Scene::of("1", "", "true");
    let server = soon(&scene);
    let idle = server.listen("/api/events", &[]).unwrap();
    let mut busy = server.listen("/api/events", &[]).unwrap();
    let mut database = database(&scene);
    for task in 1..=EVENTS {
        let event = BoardEvent::TaskCreated {
            task: task.to_string(),
            shown: json!("x".repeat(LARGE)),
        };
        let seq = database.note_board_event(None, &event).unwrap();
        let began = Instant::now();
        assert_eq!(busy.next_numbered().unwrap().id, Some(seq));
        assert!(
            began.elapsed() < Duration::from_secs(5),
            "event {seq} was late"
        );
    }
    let deadline = Instant::now() + Duration::from_mins(1);
    let listeners = || {
        server
            .get("/metrics")
            .text()
            .contains("event_listeners 1\n")
    };
    while !listeners() {
        assert!(
            Instant::now() < deadline,
            "{}",
            server.get("/metrics").text()
        );
        std::thread::sleep(Duration::from_millis(200));
    }
    // What it did not take is still in the log, for when it comes back.
    let mut sent = Vec::new();
    let ended = idle.stream().read_to_end(&mut sent);
    assert!(
        ended.is_err() || sent.len() < LARGE * 100,
        "all of it went out"
    );
    let mut again = listen_from(&server, "0");
    let heard: Vec<u64> = (0..EVENTS)
        .filter_map(|_| again.next_numbered().unwrap().id)
        .collect();
    assert_eq!(heard, (1..=EVENTS).collect::<Vec<u64>>());
}

#[test]
fn what_agents_do_is_told_while_they_do_it_and_their_words_are_fetched() {
    let held = Held::new("- [ ] 1.1 One\n");
    let server = Serving::of(&held.scene, &[]);
    let mut listener = server.listen("/api/events?from=0", &[]).unwrap();
    let run = held.run(&[]);
    let mut gate = held.gate("1.1");
    let mut live = Vec::new();
    while live.len() < 2 {
        let heard = listener.next_event().unwrap();
        if heard.event.starts_with("execution:") {
            assert_eq!(heard.id, None);
            assert_eq!(heard.data["key"], "1.1");
            assert_eq!(heard.data["worktreeId"], "batch-1/task-1.1");
            assert!(heard.data["at"].is_string(), "{heard:?}");
            live.push((heard.event, heard.data));
        }
    }
    assert_eq!(
        (&*live[0].0, &live[0].1["total"]),
        ("execution:log", &json!(1))
    );
    assert_eq!(
        (&*live[1].0, &live[1].1["action"]),
        ("execution:progress", &json!("said 1.1 1"))
    );
    let path = "/api/batches/1/tasks/1.1/log";
    let page = server.get(path).good(200);
    let first = json!({"line": 0, "type": "raw", "text": "said 1.1 1"});
    assert_eq!(
        page,
        json!({"entries": [first], "from": 0, "total": 1, "attempt": 1, "isOver": false})
    );
    writeln!(gate, "seq 1000; printf end").unwrap();
    drop(gate);
    assert_eq!(run.end().code, 0);
    all_until(&mut listener, "batch:completed");
    let last = server.get(&format!("{path}?from=tail&limit=2")).good(200);
    let texts: Vec<&str> = last["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["text"].as_str().unwrap())
        .collect();
    assert_eq!(
        (texts, &last["total"], &last["isOver"]),
        (vec!["1000", "end"], &json!(1002), &json!(true))
    );
    let middle = server.get(&format!("{path}?from=600&limit=1&attempt=1"));
    assert_eq!(middle.good(200)["entries"][0]["text"], "600");
    let usual = server.get(path).good(200);
    assert_eq!(usual["entries"].as_array().unwrap().len(), 500);
}
