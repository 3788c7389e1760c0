//! Who gets in to the server, and who does not.

use pleach_server::Consent;
use pleach_testkit::{Response, Scene};
use serde_json::json;

use crate::alone;
use crate::serving::Serving;

fn served() -> (Scene, Serving) {
    let scene = Scene::of("1", "", "true");
    let server = Serving::of(&scene, Consent::Asked);
    (scene, server)
}

/// A way that leads in, as the document tells it.
struct Way {
    method: String,
    path: String,
    wants_token: bool,
}

/// All of them, with names in the path that are well-formed and belong to nothing.
fn ways(server: &Serving) -> Vec<Way> {
    let document = server.get("/api/openapi.json").good(200);
    let mut ways = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let mut path = path.clone();
            while let Some((before, rest)) = path.split_once('{') {
                let after = rest.split_once('}').unwrap().1;
                path = format!("{before}4711{after}");
            }
            ways.push(Way {
                method: method.to_uppercase(),
                path,
                wants_token: operation["security"] != json!([{}]),
            });
        }
    }
    assert!(ways.len() > 4, "{document}");
    ways
}

/// Says something with these headers alone.
fn say(server: &Serving, way: &Way, path: &str, headers: &[(&str, &str)]) -> Response {
    server.say(&way.method, path, headers, b"").unwrap()
}

fn last_event(server: &Serving) -> String {
    let metrics = server.get("/metrics").text();
    let line = metrics
        .lines()
        .find(|line| line.starts_with("pleach_log_events_total "));
    line.unwrap().to_owned()
}

/// Says something to a way with these headers alone, and is sent away.
#[track_caller]
fn refused(server: &Serving, way: &Way, path: &str, status: u16, headers: &[(&str, &str)]) {
    let answer = say(server, way, path, headers);
    let told = format!("{} {path} {headers:?}: {}", way.method, answer.text());
    assert_eq!(answer.status, status, "{told}");
    assert!(!answer.bad(status).is_empty(), "{told}");
    assert!(
        answer.header("access-control-allow-origin").is_none(),
        "{told}"
    );
}

#[test]
fn no_route_lets_in_who_comes_by_another_name_or_from_another_place() {
    alone(|| {
        let (_scene, server) = served();
        let host = server.address.to_string();
        let token = format!("Bearer {}", server.token);
        let good = ("Authorization", token.as_str());
        let before = last_event(&server);
        let elsewhere = format!("127.0.0.1:{}", server.address.port() ^ 1);
        let rebound = format!("evil.example:{}", server.address.port());
        let almost = format!("http://{host}.evil.example");
        for way in ways(&server) {
            let refused = |headers: &[_]| refused(&server, &way, &way.path, 403, headers);
            for name in [
                elsewhere.as_str(),
                &rebound,
                "evil.example",
                "127.0.0.1",
                "",
            ] {
                refused(&[("Host", name), good]);
            }
            refused(&[("Host", &host), ("Host", &host), good]);
            for origin in [
                "http://evil.example",
                "null",
                "https://127.0.0.1",
                "file://",
                &almost,
            ] {
                refused(&[("Host", &host), good, ("Origin", origin)]);
            }
            for site in ["cross-site", "same-site"] {
                refused(&[("Host", &host), good, ("Sec-Fetch-Site", site)]);
            }
        }
        assert_eq!(last_event(&server), before, "nothing happened");
    });
}

#[test]
fn no_route_but_the_open_ones_lets_in_who_does_not_show_the_token_as_asked() {
    alone(|| {
        let (_scene, server) = served();
        let address = server.address.to_string();
        let host = ("Host", address.as_str());
        let token = format!("Bearer {}", server.token);
        let good = ("Authorization", token.as_str());
        let before = last_event(&server);
        let almost = format!("Bearer {}0", server.token);
        let own = format!("http://{address}");
        let cookie = format!("pleach_{}={}", server.address.port(), server.token);
        for way in ways(&server).iter().filter(|way| way.wants_token) {
            let refused = |path: &str, headers: &[_]| refused(&server, way, path, 401, headers);
            let in_query = format!(
                "{}?token={}&access_token={}",
                way.path, server.token, server.token
            );
            refused(&way.path, &[host]);
            refused(&in_query, &[host]);
            refused(&way.path, &[host, ("Origin", &own)]);
            for wrong in [
                almost.as_str(),
                "Bearer",
                "Bearer x",
                "Basic eDp5",
                &server.token,
            ] {
                refused(&way.path, &[host, ("Authorization", wrong)]);
            }
            refused(&way.path, &[host, good, good]);
            refused(&way.path, &[host, ("Cookie", &cookie)]);
        }
        assert_eq!(last_event(&server), before, "nothing happened");
    });
}

#[test]
fn an_absolute_address_in_the_request_must_be_ours_too() {
    alone(|| {
        let (_scene, server) = served();
        let host = server.address.to_string();
        let token = format!("Bearer {}", server.token);
        let headers = [("Host", host.as_str()), ("Authorization", token.as_str())];
        let answer = server
            .say("GET", "http://evil.example/metrics", &headers, b"")
            .unwrap();
        assert_eq!(answer.bad(403), "foreign_host");
        let own = format!("http://{host}/metrics");
        assert_eq!(server.say("GET", &own, &headers, b"").unwrap().status, 200);
    });
}

#[test]
fn every_answer_tells_browsers_to_keep_to_themselves() {
    alone(|| {
        let (_scene, server) = served();
        let host = server.address.to_string();
        for (path, headers) in [
            ("/pages/pages.css", vec![("Host", host.as_str())]),
            ("/health", vec![("Host", host.as_str())]),
            ("/api/projects", vec![("Host", host.as_str())]),
            ("/nowhere", vec![("Host", "evil.example")]),
        ] {
            let answer = server.say("GET", path, &headers, b"").unwrap();
            let policy = answer.header("content-security-policy").unwrap();
            assert!(
                policy.contains("default-src 'self'") && policy.contains("frame-ancestors 'none'")
            );
            assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
            assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
            assert_eq!(answer.header("cache-control"), Some("no-store"));
        }
    });
}

/// The code in the link of a server.
fn code(server: &Serving) -> String {
    let link = server.link();
    link.split_once("#enter=").unwrap().1.to_owned()
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
fn a_link_lets_one_browser_in_and_its_pass_ends_with_the_server() {
    alone(|| {
        let (scene, server) = served();
        let code = code(&server);
        assert_eq!(enter(&server, "another").bad(401), "bad_link");
        let entered = enter(&server, &code).good(200);
        assert_eq!(enter(&server, &code).bad(401), "bad_link");
        let pass = format!("Bearer {}", entered["pass"].as_str().unwrap());
        let with_pass = |server: &Serving, method: &str, path: &str, more: &[(&str, &str)]| {
            let host = server.address.to_string();
            let mut headers = vec![("Host", host.as_str()), ("Authorization", pass.as_str())];
            headers.extend(more);
            server.say(method, path, &headers, b"").unwrap()
        };
        assert_eq!(with_pass(&server, "GET", "/metrics", &[]).status, 200);
        let own = format!("http://{}", server.address);
        // A browser that acts says where it comes from; what does not is none.
        assert_eq!(
            with_pass(&server, "POST", "/api/links", &[]).bad(403),
            "foreign_origin"
        );
        let posted = with_pass(&server, "POST", "/api/links", &[("Origin", &own)]);
        assert!(
            posted.good(201)["path"]
                .as_str()
                .unwrap()
                .starts_with("/#enter=")
        );
        drop(server);
        // Whoever listened at the port in between may have it by now.
        let again = Serving::of(&scene, Consent::Asked);
        assert_eq!(with_pass(&again, "GET", "/metrics", &[]).status, 401);
    });
}

#[test]
fn a_name_that_is_allowed_may_come_through_a_proxy_with_tls() {
    alone(|| {
        let scene = Scene::of("1", "", "true");
        let server = Serving::start(scene.repo.path(), Consent::Asked, &["board.example"]);
        let token = format!("Bearer {}", server.token);
        let post = |host: &str, origin: &str| {
            let headers = [
                ("Host", host),
                ("Authorization", &token),
                ("Origin", origin),
            ];
            server
                .say("POST", "/api/links", &headers, b"")
                .unwrap()
                .status
        };
        assert_eq!(post("board.example", "https://board.example"), 201);
        assert_eq!(post("board.example", "https://other.example"), 403);
        assert_eq!(post("other.example", "https://other.example"), 403);
    });
}

#[test]
fn names_that_lead_elsewhere_are_no_ids() {
    alone(|| {
        let (_scene, server) = served();
        let outside = [
            "..%2f..%2ftoken",
            "%2e%2e",
            "..",
            "a%2fb",
            "-x",
            "%00",
            "%ff",
            "a%0ab",
            "....//",
            "%2e%2e%2ftoken",
        ];
        for way in ways(&server).iter().filter(|way| way.path.contains("4711")) {
            for id in outside {
                let path = way.path.replace("4711", id);
                let answer = server.ask(&way.method, &path, Some(&json!({})), &[]);
                assert!(
                    matches!(answer.status, 400 | 404 | 405 | 415 | 422),
                    "{} {path}: {} {}",
                    way.method,
                    answer.status,
                    answer.text()
                );
                assert!(!answer.text().contains(&server.token));
            }
        }
    });
}

#[test]
fn a_server_says_that_it_is_there_and_counts() {
    alone(|| {
        let (_scene, server) = served();
        assert_eq!(server.get("/health").good(200)["status"], "ok");
        let metrics = server.get("/metrics");
        assert_eq!(metrics.status, 200, "{}", metrics.text());
        assert!(
            metrics
                .text()
                .contains("pleach_http_answers_total{status=\"2xx\"} 1"),
            "{}",
            metrics.text()
        );
        assert_eq!(server.get("/api/nowhere").bad(404), "no_such_path");
        assert_eq!(
            server.ask("DELETE", "/health", None, &[]).bad(405),
            "wrong_method"
        );
    });
}
