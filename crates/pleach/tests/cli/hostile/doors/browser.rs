//! The way of a browser into the server, against those who watch it from beside.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use pleach_testkit::Response;
use serde_json::json;

use crate::scene::Scene;
use crate::serving::Serving;
use crate::{command, pleach};

/// A browser that writes down what it was given, and what is in there.
fn browser(scene: &Scene) -> PathBuf {
    let path = scene.repo.beside("browser");
    let beside = scene.repo.beside("");
    let text = format!(
        "#!/bin/sh\ncd '{}'\nprintf '%s\\n' \"$@\" > given.part\nfile=${{1#file://}}\n\
         cp \"$file\" page 2>/dev/null\nls -l \"$file\" | cut -c 1-10 > mode\nmv given.part given\n",
        beside.display()
    );
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn wait_for(path: &Path) -> String {
    loop {
        if let Ok(text) = std::fs::read_to_string(path) {
            return text;
        }
        std::thread::yield_now();
    }
}

fn code_in(text: &str) -> String {
    let (_, after) = text
        .split_once("#enter=")
        .unwrap_or_else(|| panic!("no code: {text}"));
    after.chars().take_while(char::is_ascii_hexdigit).collect()
}

/// Whatever reads the command lines of others finds no code there.
#[track_caller]
fn check_opened(scene: &Scene, server: &Serving) {
    let given = wait_for(&scene.repo.beside("given"));
    assert!(!given.contains("enter="), "{given}");
    let file = given
        .trim()
        .strip_prefix("file://")
        .expect(&given)
        .to_owned();
    assert!(Path::new(&file).starts_with(scene.state()), "{file}");
    assert_eq!(scene.trace("mode"), "-rw-------");
    let page = std::fs::read_to_string(scene.repo.beside("page")).unwrap();
    assert!(
        page.contains(&format!("http://{}/#enter=", server.address)),
        "{page}"
    );
    enter(server, &code_in(&page)).good(200);
    assert!(!Path::new(&file).exists(), "it goes when it was used");
    std::fs::remove_file(scene.repo.beside("given")).unwrap();
}

fn enter(server: &Serving, code: &str) -> Response {
    let host = server.address.to_string();
    let origin = format!("http://{host}");
    let headers = [
        ("Host", host.as_str()),
        ("Origin", origin.as_str()),
        ("Content-Type", "application/json"),
    ];
    let body = json!({ "code": code }).to_string();
    let answer = server.say("POST", "/api/enter", &headers, body.as_bytes());
    answer.unwrap()
}

#[test]
fn no_link_stands_on_the_command_line_of_a_browser() {
    let scene = Scene::of("1", "", "true");
    let browser = browser(&scene);
    let words = ["serve", "--port", "0", "--open"];
    let mut serve = command(scene.repo.path(), &scene.home(), &words);
    let server = Serving::by(serve.env("BROWSER", &browser));
    check_opened(&scene, &server);
    let port = server.address.port().to_string();
    let words = ["serve", "--open", "--port", &port];
    let mut again = command(scene.repo.path(), &scene.home(), &words);
    let again = again.env("BROWSER", &browser).output().unwrap();
    assert!(again.status.success());
    check_opened(&scene, &server);
}

/// Cookies go to every port of a host, and agents have ports; what is sent by hand goes where the page sends it.
#[test]
fn the_pass_of_a_browser_is_no_cookie() {
    let scene = Scene::of("1", "", "true");
    let server = Serving::of(&scene, &[]);
    let entered = enter(&server, &code_in(server.said["link"].as_str().unwrap()));
    assert_eq!(entered.header("set-cookie"), None);
    let pass = entered.good(200)["pass"].as_str().unwrap().to_owned();
    let host = server.address.to_string();
    let own = format!("http://{host}");
    let as_bearer = format!("Bearer {pass}");
    let say = |method: &str, path: &str, more: &[(&str, &str)]| {
        let mut headers = vec![("Host", host.as_str())];
        headers.extend(more);
        server.say(method, path, &headers, b"").unwrap()
    };
    let shown = ("Authorization", as_bearer.as_str());
    assert_eq!(say("GET", "/api/projects", &[shown]).status, 200);
    assert_eq!(
        say("POST", "/api/links", &[shown, ("Origin", &own)]).status,
        201
    );
    let elsewhere = [shown, ("Origin", "http://127.0.0.1:4555")];
    assert_eq!(say("GET", "/api/projects", &elsewhere).status, 403);
    for name in [
        "pleach",
        "pass",
        &format!("pleach_{}", server.address.port()),
    ] {
        let cookie = format!("{name}={pass}");
        let with_cookie = [("Cookie", cookie.as_str()), ("Origin", own.as_str())];
        assert_eq!(say("GET", "/api/projects", &with_cookie).status, 401);
        assert_eq!(say("POST", "/api/links", &with_cookie).status, 401);
    }
    assert_eq!(
        pleach(scene.repo.path(), &scene.home(), &["status"]).code,
        0
    );
}
