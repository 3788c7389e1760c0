//! Streams of events: where they begin, that they are alive, how many there may be, and what they tell of transcripts.

use std::io;
use std::time::{Duration, Instant};

use pleach_log::database::{BoardEvent, Database};
use pleach_server::Consent;
use pleach_system::pace::PACE;
use pleach_testkit::{ADDS_A_FILE, EventStream, Scene, gate_or_night, until_over};
use serde_json::json;

use crate::serving::{Serving, state};
use crate::table::Table;
use crate::{alone, alone_with};

fn database() -> Database {
    Database::open(&state()).unwrap()
}

/// How many times shorter than for people a server's waits are; at night, not at all.
fn pace() -> u32 {
    gate_or_night(10, 1)
}

#[test]
fn a_stream_begins_where_it_is_told_to() {
    alone(|| {
        let scene = Scene::of("1", "", "true");
        let server = Serving::of(&scene, Consent::Asked);
        let mut database = database();
        let gone = |task: u64| BoardEvent::TaskDeleted {
            task: task.to_string(),
        };
        assert_eq!(database.last_seq().unwrap(), 1, "that it has its project");
        for task in 2..=3 {
            database.note_board_event(None, &gone(task)).unwrap();
        }
        let mut now = server.listen("/api/events", &[]).unwrap();
        assert_eq!(now.line().unwrap(), "retry: 1000");
        assert_eq!(now.line().unwrap(), "id: 3");
        assert_eq!(now.line().unwrap(), "");
        let headers = [("Last-Event-ID", "1")];
        let mut header_wins = server.listen("/api/events?from=2", &headers).unwrap();
        assert_eq!(header_wins.next_numbered().unwrap().id, Some(2));
        let mut beyond = server.listen("/api/events?from=99", &[]).unwrap();
        let reset = beyond.next_event().unwrap();
        assert_eq!((&*reset.event, reset.data), ("reset", json!({"last": 3})));
        assert_eq!(beyond.last_id, "3");
        database.note_board_event(None, &gone(4)).unwrap();
        for listener in [&mut now, &mut beyond] {
            let heard = listener.next_numbered().unwrap();
            assert_eq!((heard.id, &heard.data["taskId"]), (Some(4), &json!("4")));
        }
        for bad in [
            "from=x",
            "from=-1",
            "from=1e3",
            "from=99999999999999999999",
            "batch=x",
        ] {
            assert_eq!(
                server.get(&format!("/api/events?{bad}")).status,
                400,
                "{bad}"
            );
        }
        let odd = server.ask("GET", "/api/events", None, &[("Last-Event-ID", "seven")]);
        assert_eq!(odd.bad(400), "bad_field");
    });
}

#[test]
fn a_silent_stream_shows_that_it_is_alive_and_where_it_is() {
    alone_with(&[(PACE, &pace().to_string())], || {
        let scene = Scene::of("1", "", "true");
        let server = Serving::of(&scene, Consent::Asked);
        let mut listener = server.listen("/api/events?project=other", &[]).unwrap();
        let gone = BoardEvent::TaskDeleted { task: "a".into() };
        let last = database().last_seq().unwrap();
        let began = Instant::now();
        database().note_board_event(Some("ours"), &gone).unwrap();
        let lines: Vec<String> = (0..6).map(|_| listener.line().unwrap()).collect();
        let id = format!("id: {}", last + 1);
        assert_eq!(lines[3..], [": still here", &id, ""], "{lines:?}");
        assert!(
            began.elapsed() >= Duration::from_secs(14) / pace(),
            "too soon"
        );
    });
}

#[test]
fn only_so_many_listen_at_once_and_all_end_with_the_server() {
    alone(|| {
        let scene = Scene::of("1", "", "true");
        let server = Serving::of(&scene, Consent::Asked);
        let mut all: Vec<EventStream> = (0..256)
            .map(|_| server.listen("/api/events", &[]).unwrap())
            .collect();
        assert_eq!(server.get("/api/events").bad(503), "too_many_clients");
        drop(all.pop());
        let deadline = Instant::now() + Duration::from_secs(20);
        let freed = loop {
            match server.listen("/api/events", &[]) {
                Ok(listener) => break listener,
                Err(error) => assert!(Instant::now() < deadline, "{error}"),
            }
        };
        all.push(freed);
        server.end();
        for mut listener in all {
            let error = listener.next_event().unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{error}");
        }
    });
}

#[test]
fn a_transcript_that_is_not_there_is_refused_with_a_reason() {
    alone(|| {
        let table = Table::new(1, "land = \"none\"", ADDS_A_FILE);
        let server = table.serve();
        table.start(&server, &json!({}));
        until_over(&server, 1);
        let path = "/api/batches/1/tasks/1/log";
        let silent = server.get(path).good(200);
        assert_eq!(
            (&silent["total"], &silent["isOver"]),
            (&json!(0), &json!(true))
        );
        let none = server.get(&format!("{path}?attempt=2"));
        assert_eq!(none.bad(404), "no_attempt");
        assert_eq!(server.get("/api/batches/1/tasks/9/log").status, 404);
        assert_eq!(server.get("/api/batches/9/tasks/1/log").status, 404);
        for bad in ["limit=0", "limit=5001", "from=x", "from=--1", "attempt=x"] {
            assert_eq!(server.get(&format!("{path}?{bad}")).status, 400, "{bad}");
        }
    });
}
