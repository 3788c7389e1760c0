//! The files of the board, or of the page that is there without it: which addresses lead to them, and how long they are kept.

use pleach_server::Consent;
use pleach_testkit::{Response, Scene};

use crate::alone;
use crate::serving::Serving;

fn served() -> (Scene, Serving) {
    let scene = Scene::of("1", "", "true");
    let server = Serving::of(&scene, Consent::Asked);
    (scene, server)
}

/// Asks as a browser does that has not been let in yet.
fn ask(server: &Serving, path: &str, headers: &[(&str, &str)]) -> Response {
    let host = server.address.to_string();
    let headers = [&[("Host", host.as_str())], headers].concat();
    server.say("GET", path, &headers, b"").unwrap()
}

#[test]
fn every_address_of_the_board_opens_the_same_page() {
    alone(|| {
        let (_scene, server) = served();
        let page = ask(&server, "/", &[]);
        assert_eq!(page.header("content-type"), Some("text/html"));
        assert!(page.text().contains("<title>Pleach</title>"));
        for path in [
            "/settings",
            "/batches/7",
            "/tasks/0198/transcript?attempt=2",
        ] {
            let same = ask(&server, path, &[]);
            assert_eq!((same.status, same.text()), (200, page.text()), "{path}");
        }
    });
}

#[test]
fn a_page_is_asked_for_anew_each_time_and_sent_only_when_it_changed() {
    alone(|| {
        let (_scene, server) = served();
        let page = ask(&server, "/settings", &[]);
        assert_eq!(page.header("cache-control"), Some("no-cache"));
        let tag = page.header("etag").unwrap();
        let same = ask(&server, "/settings", &[("If-None-Match", tag)]);
        assert_eq!((same.status, same.text().len()), (304, 0));
    });
}

#[test]
fn a_file_that_is_not_there_is_no_page() {
    alone(|| {
        let (_scene, server) = served();
        for path in [
            "/assets/gone.js",
            "/assets/../assets/gone.css",
            "/robots.txt",
        ] {
            let answer = ask(&server, path, &[]);
            assert_eq!(answer.status, 404, "{path}");
            assert!(answer.text().contains("no_such_path"), "{path}");
        }
    });
}

#[test]
fn pages_run_nothing_that_the_server_did_not_send() {
    alone(|| {
        let (_scene, server) = served();
        let page = ask(&server, "/", &[]);
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'self';"), "{policy}");
        assert!(!policy.contains("script-src"), "{policy}");
    });
}
