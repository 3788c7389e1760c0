//! The document of the API, and how a client knows whether it was made for this server.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::scene::Scene;
use crate::serving::Serving;

const PATH: &str = "/api/openapi.json";

fn sha256(bytes: &[u8]) -> String {
    let mut child = Command::new("sha256sum")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.split(' ').next().unwrap().to_owned()
}

#[test]
fn the_document_is_told_apart_by_the_hash_of_its_bytes() {
    let scene = Scene::new("", "true");
    let server = Serving::of(&scene, &[]);
    let document = server.get(PATH);
    let tag = document.header("etag").unwrap().to_owned();
    assert_eq!(tag, format!("\"{}\"", sha256(&document.body)));
    let asked = |tags: &str| server.ask("GET", PATH, None, &[("If-None-Match", tags)]);
    for known in [&tag, &format!("\"x\", W/{tag}"), "*"] {
        let answer = asked(known);
        assert_eq!((answer.status, answer.body.len()), (304, 0), "{known}");
        assert_eq!(answer.header("etag"), Some(tag.as_str()));
    }
    assert_eq!(asked("\"x\"").body, document.body);
}

#[test]
fn the_head_of_the_document_can_be_asked_for_alone() {
    let scene = Scene::new("", "true");
    let server = Serving::of(&scene, &[]);
    let whole = server.get(PATH);
    let mut stream = server.connect().unwrap();
    let head = format!(
        "HEAD {PATH} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n",
        server.address, server.token
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    std::io::Read::read_to_string(&mut stream, &mut answer).unwrap();
    let answer = answer.to_lowercase();
    let tag = whole.header("etag").unwrap();
    assert!(answer.starts_with("http/1.1 200 "), "{answer}");
    assert!(answer.contains(&format!("etag: {tag}\r\n")), "{answer}");
    assert!(answer.ends_with("\r\n\r\n"), "{answer}");
}
