//! Who gets in to the server, and who does not.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};

use pleach_testkit::{Response, hear};
use serde_json::{Value, json};

use crate::scene::Scene;
use crate::serving::Serving;

fn served() -> (Scene, Serving) {
    let scene = Scene::of("1", "", "true");
    let server = Serving::of(&scene, &[]);
    (scene, server)
}

fn enter(server: &Serving, code: &str) -> Response {
    let host = server.address.to_string();
    let origin = format!("http://{host}");
    let headers = [
        ("Host", host.as_str()),
        ("Origin", origin.as_str()),
        ("Sec-Fetch-Site", "same-origin"),
        ("Content-Type", "application/json"),
    ];
    let body = json!({ "code": code }).to_string();
    server
        .say("POST", "/api/enter", &headers, body.as_bytes())
        .unwrap()
}

#[test]
fn whoever_serves_twice_gets_another_link_and_a_stranger_on_the_port_is_told_of() {
    let (scene, server) = served();
    let port = server.address.port().to_string();
    let words = ["serve", "--json", "--port", &port];
    let second = crate::pleach(scene.repo.path(), &scene.home(), &words);
    let said: Value = serde_json::from_str(&second.good()).unwrap();
    assert_eq!(
        (&said["wasThere"], &said["address"]),
        (&json!(true), &server.said["address"])
    );
    let link = said["link"].as_str().unwrap().to_owned();
    let code = link.split_once("#enter=").unwrap().1;
    assert_eq!(enter(&server, code).status, 200);

    let stranger = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = stranger.local_addr().unwrap().port().to_string();
    let answering = std::thread::spawn(move || {
        let (mut guest, _) = stranger.accept().unwrap();
        let mut said = [0; 1024];
        let length = guest.read(&mut said).unwrap();
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
        guest.write_all(text.as_bytes()).unwrap();
        String::from_utf8_lossy(&said[..length]).into_owned()
    });
    let words = ["serve", "--port", &port];
    let refused = crate::pleach(scene.repo.path(), &scene.home(), &words).bad(3);
    assert!(
        refused.contains("taken by another program") && refused.contains("hint: "),
        "{refused}"
    );
    assert!(
        !answering.join().unwrap().contains("Bearer"),
        "strangers are not shown the token"
    );
}

#[test]
fn beyond_this_machine_it_listens_only_for_who_says_so_twice() {
    let (scene, _server) = served();
    for (words, expected) in [
        (
            vec!["serve", "--host", "0.0.0.0", "--port", "0"],
            "--insecure",
        ),
        (
            vec!["serve", "--host", "0.0.0.0", "--port", "0", "--insecure"],
            "--allow-host",
        ),
    ] {
        let error = crate::pleach(scene.repo.path(), &scene.home(), &words).bad(2);
        assert!(
            error.contains("hint: ") && error.contains(expected),
            "{error}"
        );
    }
}

#[test]
fn a_body_of_a_gigabyte_is_refused_before_it_is_sent() {
    let (_scene, server) = served();
    let mut stream = server.connect().unwrap();
    write!(
        stream,
        "POST /api/links HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Content-Length: 1073741824\r\n\r\n",
        server.address, server.token
    )
    .unwrap();
    // Whether or not anybody reads the body of this route, none is taken in.
    let answer = hear(stream).unwrap();
    assert_eq!(answer.bad(413), "too_large");
}

#[test]
fn a_body_that_never_says_how_long_it_is_is_cut_off() {
    let (_scene, server) = served();
    let mut stream = server.connect().unwrap();
    write!(
        stream,
        "POST /api/enter HTTP/1.1\r\nHost: {0}\r\nOrigin: http://{0}\r\nContent-Type: application/json\r\n\
         Transfer-Encoding: chunked\r\n\r\n",
        server.address
    )
    .unwrap();
    let piece = vec![b' '; 64 << 10];
    let mut sent = 0_u64;
    while sent < 1 << 30 {
        let written = write!(stream, "{:x}\r\n", piece.len())
            .and_then(|()| stream.write_all(&piece))
            .and_then(|()| stream.write_all(b"\r\n"));
        if written.is_err() {
            break;
        }
        sent += piece.len() as u64;
    }
    assert!(sent < 64 << 20, "{sent} bytes were taken");
    assert_eq!(server.get("/health").status, 200);
}

#[test]
fn ten_thousand_headers_are_refused() {
    let (_scene, server) = served();
    let mut stream = server.connect().unwrap();
    let mut head = format!("GET /health HTTP/1.1\r\nHost: {}\r\n", server.address);
    for number in 0..10_000 {
        let _ = write!(head, "X-{number}: 1\r\n");
    }
    head.push_str("\r\n");
    // The server may hang up while this is still being sent.
    let _ = stream.write_all(head.as_bytes());
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 431"),
        "{answer}"
    );
    assert_eq!(server.get("/health").status, 200);
}
