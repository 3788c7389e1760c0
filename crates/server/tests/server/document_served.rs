//! The document of the API, and how a client knows whether it was made for this server.

use std::fmt::Write as _;

use pleach_server::Consent;
use pleach_testkit::Scene;
use sha2::{Digest as _, Sha256};

use crate::alone;
use crate::serving::Serving;

const PATH: &str = "/api/openapi.json";

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

#[test]
fn the_document_is_told_apart_by_the_hash_of_its_bytes() {
    alone(|| {
        let scene = Scene::new("", "true");
        let server = Serving::of(&scene, Consent::Asked);
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
    });
}

#[test]
fn the_head_of_the_document_can_be_asked_for_alone() {
    alone(|| {
        let scene = Scene::new("", "true");
        let server = Serving::of(&scene, Consent::Asked);
        let whole = server.get(PATH);
        let alone = server.ask("HEAD", PATH, None, &[]);
        assert_eq!((alone.status, alone.body.len()), (200, 0));
        assert_eq!(alone.header("etag"), whole.header("etag"));
    });
}
