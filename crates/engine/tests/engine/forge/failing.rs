//! Forges that fail at every step: one pull request in the end, or an error that says what is and what to do.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use pleach_engine::forge::{Forge, ForgeError, connect_within, open_pull_request};
use pleach_git::git::Pauses;
use pleach_testkit::{Failure, ForgeFault, ForgeStep, ForgeStyle};

use crate::forge::scene::{ALL, HEAD, PROJECT, Scene, TOKEN, assert_forge_error, draft, pauses};

const PASSING: [ForgeFault; 5] = [
    ForgeFault::Cut,
    ForgeFault::Status(500),
    ForgeFault::Status(502),
    ForgeFault::Garbage,
    ForgeFault::Throttled(0),
];

/// What is asked on the way to a new pull request.
fn steps(style: ForgeStyle) -> &'static [ForgeStep] {
    match style {
        ForgeStyle::GitHub => &[ForgeStep::Find, ForgeStep::Create],
        ForgeStyle::GitLab | ForgeStyle::Gitea => &[
            ForgeStep::Find,
            ForgeStep::Branch,
            ForgeStep::Commits,
            ForgeStep::Create,
        ],
    }
}

/// One step fails in one way before it works: there is one pull request in the end.
fn check_passing(scene: &Scene, forge: &dyn Forge, step: ForgeStep, failure: Failure) {
    let what = format!("{:?} {step:?} {failure:?}", scene.style);
    let is_lost = matches!(failure, Failure::After(_));
    scene.forge.forget();
    scene.forge.fail(step, failure);
    let opened = open_pull_request(forge, &draft("text"), &pauses());
    let opened = opened.unwrap_or_else(|error| panic!("{what}: {error}"));
    let all = scene.forge.pull_requests();
    assert_eq!(all.len(), 1, "{what}");
    let body = all[0].body.as_str();
    assert_eq!((opened.number, body), (1, "text"), "{what}");
    let is_made_again = step == ForgeStep::Create && !is_lost;
    let creates = if is_made_again { 2 } else { 1 };
    assert_eq!(scene.forge.count(ForgeStep::Create), creates, "{what}");
    scene.forge.assert_well_asked();
}

fn check_all_passing(style: ForgeStyle) {
    let scene = Scene::pushed(style);
    let forge = scene.connect();
    for step in steps(style) {
        for fault in PASSING {
            check_passing(&scene, &*forge, *step, Failure::Before(fault.clone()));
            check_passing(&scene, &*forge, *step, Failure::After(fault));
        }
    }
}

#[test]
fn whatever_passes_leaves_exactly_one_pull_request_on_github() {
    check_all_passing(ForgeStyle::GitHub);
}

#[test]
fn whatever_passes_leaves_exactly_one_merge_request_on_gitlab() {
    check_all_passing(ForgeStyle::GitLab);
}

#[test]
fn whatever_passes_leaves_exactly_one_pull_request_on_gitea() {
    check_all_passing(ForgeStyle::Gitea);
}

#[test]
fn an_answer_that_never_comes_counts_as_lost() {
    let scene = Scene::pushed(ForgeStyle::GitHub);
    // Long enough for every other answer, however busy the machine is.
    let hasty = scene.connect_within(Duration::from_secs(6));
    for failure in [
        Failure::Before(ForgeFault::Silence),
        Failure::After(ForgeFault::Silence),
    ] {
        check_passing(&scene, &*hasty, ForgeStep::Create, failure);
    }
}

#[test]
fn an_update_whose_answer_is_lost_is_made_again() {
    for style in ALL {
        for failure in [
            Failure::Before(ForgeFault::Cut),
            Failure::After(ForgeFault::Status(502)),
        ] {
            let scene = Scene::pushed(style);
            let number = scene.forge.open(PROJECT, HEAD, "main", None);
            scene.forge.fail(ForgeStep::Update, failure);
            assert_eq!(scene.open().unwrap().number, number);
            assert_eq!(scene.forge.count(ForgeStep::Update), 2);
            assert_eq!(scene.forge.pull_requests()[0].body, "text");
        }
    }
}

#[test]
fn what_does_not_pass_is_asked_once_and_told() {
    let faults = [
        (ForgeFault::BadLogin, "login_rejected", "PLEACH_GIT_TOKEN"),
        (ForgeFault::NoRights, "no_rights", "PLEACH_GIT_TOKEN"),
        (
            ForgeFault::Status(403),
            "no_rights",
            "something about https://host/",
        ),
        (ForgeFault::Status(418), "refused", "418"),
        (ForgeFault::RateLimited(3600), "rate_limited", "until 20"),
        (ForgeFault::Throttled(3600), "rate_limited", "until 20"),
    ];
    for style in ALL {
        let scene = Scene::pushed(style);
        for step in steps(style) {
            for (fault, code, word) in &faults {
                scene.forge.forget();
                scene.forge.fail(*step, Failure::Before(fault.clone()));
                let error = scene.open().unwrap_err();
                let told = assert_forge_error(&error, code);
                assert!(told.contains(word), "{style:?} {step:?} {told}");
                assert_eq!(scene.forge.count(*step), 1, "{style:?} {step:?} {fault:?}");
                assert_eq!(scene.forge.pull_requests(), []);
            }
        }
    }
}

#[test]
fn an_update_that_is_refused_still_names_the_pull_request() {
    for style in ALL {
        let scene = Scene::pushed(style);
        let number = scene.forge.open(PROJECT, HEAD, "main", None);
        scene
            .forge
            .fail(ForgeStep::Update, Failure::Before(ForgeFault::NoRights));
        let error = scene.open().unwrap_err();
        let told = assert_forge_error(&error, "not_updated");
        assert!(told.contains("PLEACH_GIT_TOKEN"), "{told}");
        assert_eq!(error.pull_request().unwrap().number, number);
    }
}

#[test]
fn a_failure_that_stays_ends_after_the_last_pause() {
    let scene = Scene::pushed(ForgeStyle::GitHub);
    for _ in 0..9 {
        scene
            .forge
            .fail(ForgeStep::Create, Failure::Before(ForgeFault::Cut));
    }
    let error = scene.open().unwrap_err();
    let told = assert_forge_error(&error, "unreachable");
    assert!(told.contains("created twice"), "{told}");
    assert_eq!(scene.forge.count(ForgeStep::Create), 3);
    assert_eq!(scene.forge.count(ForgeStep::Find), 3, "looked before each");
}

#[test]
fn a_limit_says_when_it_ends_and_a_short_one_is_waited_for() {
    for style in ALL {
        let scene = Scene::pushed(style);
        scene.forge.fail(
            ForgeStep::Find,
            Failure::Before(ForgeFault::RateLimited(3000)),
        );
        let Err(ForgeError::RateLimited { until, .. }) = scene.open() else {
            panic!("{style:?}: no limit");
        };
        let left = until.unwrap().duration_since(SystemTime::now()).unwrap();
        assert!((2990..=3000).contains(&left.as_secs()), "{left:?}");
        scene
            .forge
            .fail(ForgeStep::Find, Failure::Before(ForgeFault::Throttled(1)));
        let pauses = Pauses::of([Duration::from_secs(2)]);
        let started = Instant::now();
        open_pull_request(&*scene.connect(), &draft("text"), &pauses).unwrap();
        assert!(started.elapsed() >= Duration::from_secs(1));
    }
}

#[test]
fn nobody_is_followed_to_another_place() {
    let elsewhere = Scene::pushed(ForgeStyle::GitHub);
    for style in ALL {
        let scene = Scene::pushed(style);
        for step in steps(style) {
            let place = format!(
                "http://{}/api/v3/repos/acme/new?x={TOKEN}",
                elsewhere.forge.host()
            );
            scene
                .forge
                .fail(*step, Failure::Before(ForgeFault::MovedTo(place)));
            let told = assert_forge_error(&scene.open().unwrap_err(), "moved");
            assert!(told.contains("/repos/acme/new"), "{told}");
            assert!(told.contains("git remote set-url origin"), "{told}");
        }
    }
    assert_eq!(elsewhere.forge.requests().len(), 0);
}

#[test]
fn a_wrong_token_is_told_with_the_place_it_is_from() {
    for style in ALL {
        let scene = Scene::pushed(style);
        let login = scene.login("wrong-t0ken");
        let forge = connect_within(&scene.project(), login, Duration::from_secs(5)).unwrap();
        let error = open_pull_request(&*forge, &draft("text"), &pauses()).unwrap_err();
        let told = assert_forge_error(&error, "login_rejected");
        assert!(
            told.contains("PLEACH_GIT_TOKEN") && !told.contains("wrong-t0ken"),
            "{told}"
        );
        let login = scene.login("two\nlines");
        let forge = connect_within(&scene.project(), login, Duration::from_secs(5)).unwrap();
        let error = forge.find(HEAD, "main").unwrap_err();
        assert_forge_error(&error, "login_rejected");
    }
}

#[test]
fn a_forge_that_is_not_there_is_unreachable() {
    let scene = Scene::pushed(ForgeStyle::Gitea);
    let forge = scene.connect();
    drop(scene.forge);
    let error = open_pull_request(&*forge, &draft("text"), &pauses()).unwrap_err();
    assert_forge_error(&error, "unreachable");
}

#[test]
fn a_server_that_cannot_prove_who_it_is_gets_nothing() {
    let scene = Scene::pushed(ForgeStyle::GitHub);
    let impostor = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = format!("https://{}/acme/site", impostor.local_addr().unwrap());
    scene.repo.git(&["remote", "set-url", "origin", &place]);
    let heard = thread::spawn(move || {
        let (mut stream, _) = impostor.accept().unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
        let mut heard = Vec::new();
        // The client goes away in its own way.
        let _ = stream.read_to_end(&mut heard);
        String::from_utf8_lossy(&heard).into_owned()
    });
    let told = assert_forge_error(&scene.open().unwrap_err(), "untrusted");
    assert!(told.contains("SSL_CERT_FILE"), "{told}");
    assert!(!heard.join().unwrap().contains(TOKEN));
}
