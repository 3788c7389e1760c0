//! What one client waits for holds up nobody else.

use std::fs;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::pleach;
use crate::scene::Scene;
use crate::serving::Serving;

/// More than are at work at once.
const WAITING: usize = 40;

fn connections(server: &Serving) -> usize {
    let metrics = server.get("/metrics").text();
    let name = "pleach_http_connections ";
    let count = metrics.lines().find_map(|line| line.strip_prefix(name));
    count.unwrap().parse().unwrap()
}

#[test]
fn batches_that_wait_for_a_silent_server_hold_up_nobody() {
    let scene = Scene::of("1", "", "true");
    let server = Serving::of(&scene, &["--yes"]);
    let url = format!("file://{}", scene.repo.path().display());
    let added = server.post("/api/projects", &json!({"url": url})).json();
    let id = added["id"].as_str().unwrap();
    let path = format!("/api/projects/{id}");
    let cloned = server.until(&path, |project| project["status"] == "ready");
    let folder = cloned["path"].as_str().unwrap();
    fs::copy(
        scene.repo.path().join("pleach.toml"),
        format!("{folder}/pleach.toml"),
    )
    .unwrap();
    pleach(Path::new(folder), &scene.home(), &["trust", "--yes"]).good();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/x.git", silent.local_addr().unwrap());
    let config = ["-C", folder, "config", "remote.origin.url", &address];
    assert!(Command::new("git").args(config).status().unwrap().success());
    let task = json!({"projectId": id, "title": "dig"});
    let task = server.post("/api/tasks", &task).good(201);
    let body = json!({"taskIds": [task["id"]]}).to_string();
    let asked = || {
        let mut stream = server.connect().unwrap();
        let (host, token) = (server.address, &server.token);
        write!(
            stream,
            "POST /api/batches HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        stream
    };
    let waiting: Vec<TcpStream> = (0..WAITING).map(|_| asked()).collect();
    let (_unanswered, _) = silent.accept().unwrap();
    while connections(&server) < WAITING {
        std::thread::yield_now();
    }
    assert_eq!(server.get(&path).good(200)["id"], json!(id));
    assert_eq!(server.get("/api/batches").good(200), json!({"batches": []}));
    drop(waiting);
}
