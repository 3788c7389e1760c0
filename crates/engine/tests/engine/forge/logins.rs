//! Which login a forge gets: as for git, then from git's own helpers, and never another server's.

use std::path::Path;

use pleach_domain::choice::ForgeKind;
use pleach_engine::forge::{ForgeProject, Unrecognised};
use pleach_git::git::{Git, Logins, Store};
use pleach_testkit::{ForgeStyle, TestRepo};

use crate::forge::scene::{Scene, TOKEN};

fn store(repo: &TestRepo) -> Store {
    let stores = repo.beside("stores");
    Store::open(Git::find().unwrap(), &stores, repo.path()).unwrap()
}

/// Where the login for the forge of a repository is found.
fn found(repo: &TestRepo, variables: &[(&str, &str)]) -> Option<String> {
    let store = store(repo);
    let project = ForgeProject::recognise(&store, Some(ForgeKind::GitHub))
        .unwrap()
        .unwrap();
    let variables = variables.iter();
    let variables = variables.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let logins = Logins::new(Path::new("/bin/false"), variables);
    let login = project.login(&store, &logins).unwrap();
    let told = format!("{login:?}");
    assert!(!told.contains("s3cret"), "{told}");
    let from = told.split_once("from: \"").map(|(_, rest)| rest);
    from.map(|rest| rest.trim_end_matches("\" })").to_owned())
}

#[test]
fn a_remote_by_ssh_gets_the_token_of_its_forge() {
    let repo = TestRepo::new();
    repo.git(&["remote", "add", "origin", "git@github.com:acme/site.git"]);
    let github = [("GH_TOKEN", "s3cret"), ("GITLAB_TOKEN", "s3cret-too")];
    assert_eq!(found(&repo, &github).as_deref(), Some("GH_TOKEN"));
    assert_eq!(found(&repo, &github[1..]), None);
    let long = "ssh://git-0123456789abcdefghi@github.com/acme/site";
    repo.git(&["remote", "set-url", "origin", long]);
    assert_eq!(found(&repo, &[]), None, "a name of ssh is no token");
}

#[test]
fn a_token_in_the_address_is_taken_first() {
    let repo = TestRepo::new();
    let address = "https://x:s3cret@github.com/acme/site.git";
    repo.git(&["remote", "add", "origin", address]);
    let both = [("GH_TOKEN", "other")];
    assert_eq!(found(&repo, &both).as_deref(), Some("the address"));
}

#[test]
fn git_s_own_helpers_are_asked_last_and_for_this_server_only() {
    let repo = TestRepo::new();
    repo.git(&[
        "remote",
        "add",
        "origin",
        "https://github.com/acme/site.git",
    ]);
    let asked = repo.beside("asked");
    let helper = format!(
        "!f() {{ cat >> '{}'; echo username=ann; echo password=s3cret; }}; f",
        asked.display()
    );
    repo.git(&["config", "credential.https://github.com.helper", &helper]);
    let own = [("GH_TOKEN", "other")];
    assert_eq!(found(&repo, &own).as_deref(), Some("GH_TOKEN"));
    assert!(!asked.exists());
    let from = found(&repo, &[]);
    assert_eq!(from.as_deref(), Some("git's credential helper"));
    let asked = std::fs::read_to_string(asked).unwrap();
    assert!(asked.contains("host=github.com\n"), "{asked}");
    repo.git(&[
        "remote",
        "set-url",
        "origin",
        "https://github.acme.example/a/b",
    ]);
    assert_eq!(found(&repo, &[]), None, "another server");
    repo.git(&["remote", "set-url", "origin", "http://github.com/acme/site"]);
    assert_eq!(found(&repo, &own), None, "anybody could read along");
}

#[test]
fn a_helper_s_token_opens_pull_requests() {
    let scene = Scene::pushed(ForgeStyle::Gitea);
    // On no command line: other tests look for the token on those of all processes.
    let login = scene.repo.beside("login");
    std::fs::write(&login, format!("username=ann\npassword={TOKEN}\n")).unwrap();
    let helper = format!("!f() {{ cat '{}'; }}; f", login.display());
    scene.repo.git(&["config", "credential.helper", &helper]);
    let store = store(&scene.repo);
    let logins = scene.logins(None);
    let login = scene.project().login(&store, &logins).unwrap();
    let forge = pleach_engine::forge::connect(&scene.project(), login).unwrap();
    assert_eq!(forge.find("a", "main").unwrap(), None);
}

#[test]
fn a_project_is_where_it_is_pushed_to() {
    let repo = TestRepo::new();
    let of = |configured| ForgeProject::recognise(&store(&repo), configured).unwrap();
    assert_eq!(of(None).unwrap_err(), Unrecognised::NoServer);
    repo.git(&["remote", "add", "origin", "https://github.com/acme/site"]);
    assert_eq!(of(None).unwrap().path(), "acme/site");
    let push = [
        "remote",
        "set-url",
        "--push",
        "origin",
        "git@github.com:ann/site",
    ];
    repo.git(&push);
    assert_eq!(of(None).unwrap().path(), "ann/site");
    assert_eq!(
        of(Some(ForgeKind::None)).unwrap_err(),
        Unrecognised::SwitchedOff
    );
    repo.git(&["remote", "rename", "origin", "elsewhere"]);
    assert_eq!(of(None).unwrap().path(), "ann/site", "the only remote");
    repo.git(&["remote", "add", "second", "https://github.com/acme/second"]);
    assert_eq!(
        of(None).unwrap_err(),
        Unrecognised::NoServer,
        "which of two"
    );
    repo.git(&["config", "branch.main.remote", "second"]);
    assert_eq!(of(None).unwrap().path(), "acme/second", "the upstream's");
}
