//! Stores of projects that are an address, and fetching from where a local one comes from.

use std::path::Path;

use pleach_git::git::{BadAddress, Git, Logins, Store, StoreError};
use pleach_testkit::TestRepo;

use crate::store::{id, open, open_at};

fn nobody() -> Logins {
    Logins::new(Path::new("/bin/false"), [])
}

fn open_url(repo: &TestRepo, address: &str) -> Result<Store, StoreError> {
    let stores = repo.beside("stores");
    Store::open_url(Git::find().unwrap(), &stores, address, &nobody())
}

fn address(repo: &TestRepo) -> String {
    format!("file://{}", repo.path().display())
}

#[test]
fn a_project_can_be_an_address() {
    let repo = TestRepo::new();
    let first = repo.head();
    repo.branch("topic");
    let topic = repo.commit("topic");
    repo.git(&["tag", "--annotate", "-m", "release", "v1"]);
    repo.git(&["switch", "--quiet", "main"]);
    let before = repo.fingerprint();
    let store = open_url(&repo, &address(&repo)).unwrap();
    let name = store.home().file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("project-"), "{name}");
    let base = |name: Option<&str>| store.resolve_base(name).map(|id| id.to_string());
    assert_eq!(base(None).unwrap(), first, "the server's own choice");
    for name in [
        "topic",
        "origin/topic",
        "refs/heads/topic",
        "v1",
        &topic[..12],
    ] {
        assert_eq!(base(Some(name)).unwrap(), topic, "{name}");
    }
    for name in ["topic~1", "v1^", "main"] {
        assert_eq!(base(Some(name)).unwrap(), first, "{name}");
    }
    for wrong in ["nothing", "--all", "", "main:README.md", "../main"] {
        let error = base(Some(wrong)).unwrap_err();
        assert!(matches!(error, StoreError::BaseNotFound { .. }), "{wrong}");
    }
    let base = store.resolve_base(None).unwrap();
    assert!(store.read_file_at(&base, "README.md").unwrap().is_some());
    let error = store.publish(&base, "pleach/batch-1", None).unwrap_err();
    assert!(matches!(error, StoreError::NoCheckout { .. }), "{error}");
    assert_eq!(repo.fingerprint(), before);
}

#[test]
fn a_fetch_follows_the_server_and_spares_the_work_in_the_store() {
    let repo = TestRepo::new();
    let first = id(&repo.head());
    repo.git(&["branch", "gone"]);
    let store = open_url(&repo, &address(&repo)).unwrap();
    let git = |args: &[&str]| repo.git_in(&store.git_dir(), args);
    git(&["branch", "gone", first.as_str()]);
    git(&["branch", "pleach/task-1/1", first.as_str()]);
    store.keep(&first, "1/1").unwrap();
    repo.git(&["branch", "-D", "gone"]);
    repo.branch("trunk");
    let second = id(&repo.commit("second"));
    // Would stand where the server's choice is noted.
    repo.git(&["update-ref", "refs/heads/HEAD", second.as_str()]);
    store.fetch_origin(&nobody()).unwrap();
    let main = store.ref_commit("refs/remotes/origin/main").unwrap();
    assert_eq!(main, Some(first.clone()));
    assert_eq!(store.resolve_base(None).unwrap(), second, "HEAD moved");
    let gone = store.ref_commit("refs/remotes/origin/gone").unwrap();
    assert_eq!(gone, None);
    for kept in ["heads/gone", "heads/pleach/task-1/1", "pleach/keep/1/1"] {
        let kept = store.ref_commit(&format!("refs/{kept}")).unwrap();
        assert_eq!(kept, Some(first.clone()));
    }
    repo.git(&["checkout", "--quiet", "--detach", first.as_str()]);
    let again = open_url(&repo, &address(&repo)).unwrap();
    assert_eq!(again.resolve_base(None).unwrap(), second, "not asked again");
    for _ in 0..2 {
        store.fetch_origin(&nobody()).unwrap();
        assert_eq!(store.resolve_base(None).unwrap(), first, "HEAD detached");
    }
    repo.git(&["switch", "--quiet", "trunk"]);
    store.fetch_origin(&nobody()).unwrap();
    assert_eq!(store.resolve_base(None).unwrap(), second, "HEAD again");
}

#[test]
fn what_is_at_no_usable_address_is_refused_with_its_reason() {
    let repo = TestRepo::new();
    let refused = |address: &str| open_url(&repo, address).unwrap_err();
    let error = refused("ext::sh -c touch% canary");
    assert!(matches!(error, StoreError::BadAddress(BadAddress::Program)));
    let error = refused("--upload-pack=touch canary");
    assert!(matches!(error, StoreError::BadAddress(_)), "{error}");
    let nowhere = format!("file://{}", repo.beside("nowhere").display());
    let error = refused(&nowhere);
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
    assert!(error.hint().unwrap().contains("check"));
    let empty = TestRepo::empty();
    let store = open_url(&repo, &address(&empty)).unwrap();
    let error = store.resolve_base(None).unwrap_err();
    assert!(matches!(error, StoreError::NoCommits { .. }), "{error}");
    let first = id(&empty.commit("first"));
    let store = open_url(&repo, &address(&empty)).unwrap();
    assert_eq!(store.resolve_base(None).unwrap(), first, "no longer empty");
}

#[test]
fn an_address_may_lead_to_a_sha256_repository() {
    let repo = TestRepo::new();
    let other = repo.beside("other");
    let name = other.to_str().unwrap();
    repo.git(&["init", "--quiet", "--object-format=sha256", name]);
    repo.git_in(&other, &["commit", "--quiet", "--allow-empty", "-m", "x"]);
    let store = open_url(&repo, &format!("file://{name}")).unwrap();
    assert_eq!(store.resolve_base(None).unwrap().as_str().len(), 64);
}

#[test]
fn after_a_fetch_the_base_follows_the_servers_branch() {
    let upstream = TestRepo::new();
    let clone = upstream.beside("clone");
    let name = clone.to_str().unwrap();
    let from = upstream.path().to_str().unwrap();
    upstream.git(&["clone", "--quiet", from, name]);
    let old = id(&upstream.head());
    let new = id(&upstream.commit("news"));
    let store = open_at(&upstream, &clone).unwrap();
    assert_eq!(store.resolve_base(None).unwrap(), old);
    let refs = upstream.git_in(&clone, &["for-each-ref"]);
    store.fetch_origin(&nobody()).unwrap();
    let base = |name: Option<&str>| store.resolve_fetched_base(name).unwrap();
    assert_eq!(base(None), new);
    assert_eq!(base(Some("origin/main")), new);
    assert_eq!(base(Some("main")), old, "a branch of the user's own");
    assert_eq!(
        store.resolve_base(None).unwrap(),
        old,
        "as the user knows it"
    );
    assert_eq!(upstream.git_in(&clone, &["for-each-ref"]), refs);
    upstream.git_in(&clone, &["pull", "--quiet"]);
    let ahead = ["commit", "--quiet", "--allow-empty", "-m", "ahead"];
    upstream.git_in(&clone, &ahead);
    let ahead = id(&upstream.git_in(&clone, &["rev-parse", "HEAD"]));
    assert_eq!(base(None), ahead, "the user's branch is ahead");
}

#[test]
fn an_origin_may_be_a_path_that_starts_at_the_repository() {
    let repo = TestRepo::new();
    repo.git(&["clone", "--quiet", "--bare", ".", "../up.git"]);
    repo.git(&["remote", "add", "origin", "../up.git"]);
    repo.write("deep/down/file", "x");
    let store = open_at(&repo, &repo.path().join("deep/down")).unwrap();
    store.fetch_origin(&nobody()).unwrap();
    let fetched = store.ref_commit("refs/remotes/origin/main").unwrap();
    assert_eq!(fetched, Some(id(&repo.head())));
}

#[test]
fn a_repository_that_comes_from_nowhere_cannot_be_fetched() {
    let repo = TestRepo::new();
    let error = open(&repo).fetch_origin(&nobody()).unwrap_err();
    assert!(matches!(error, StoreError::NoOrigin { .. }), "{error}");
    assert!(error.hint().unwrap().contains("without --fetch"));
}
