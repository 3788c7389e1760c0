//! Projects that are added, renamed, hidden and cloned.

use std::fs;
use std::path::Path;

use pleach_engine::board::ProjectStatus;
use pleach_git::git::{Git, Logins, Store};
use pleach_testkit::TestRepo;

use super::{Board, BoardEvent, Database, Logged, Scene, StateFolder, refused, save};

#[test]
fn a_project_is_known_by_the_name_of_its_store_from_any_of_its_folders() {
    let mut scene = Scene::new();
    let below = scene.repo.path().join("src/deep");
    fs::create_dir_all(&below).unwrap();
    let again = scene.board.add_folder(&below).unwrap();
    let name = Store::name_of(&Git::find().unwrap(), &scene.state.stores(), &below).unwrap();
    assert_eq!(
        (&again.id, &again.path),
        (&name, &scene.repo.path().to_owned())
    );
    assert!(again.is_repository);
    assert_eq!(scene.board.projects().unwrap(), [again]);
}

#[test]
fn a_plain_folder_is_a_project_without_branches() {
    let mut scene = Scene::new();
    let plain = tempfile::tempdir().unwrap();
    let project = scene.board.add_folder(plain.path()).unwrap();
    assert!(!project.is_repository);
    assert_eq!(project.path, plain.path().canonicalize().unwrap());
}

#[test]
fn what_is_no_folder_is_no_project() {
    let mut scene = Scene::new();
    let file = scene.repo.path().join("README.md");
    let folder = scene.repo.path().display();
    let missing = scene.repo.path().join("such/place");
    for (wrong, hint) in [
        (Path::new("relative"), "pass an absolute path".into()),
        (
            &missing,
            format!("on the server's machine, only {folder} exists"),
        ),
        (&file, format!("{folder} is a folder")),
    ] {
        let error = scene.board.add_folder(wrong).unwrap_err();
        assert_eq!(
            (error.code(), error.fields()[0].path.as_str(), error.hint()),
            ("not_a_folder", "path", Some(hint))
        );
    }
}

#[test]
fn a_hidden_project_comes_back_with_everything() {
    let mut scene = Scene::new();
    scene.create("a", &[]);
    let id = scene.project.clone();
    let renamed = scene.board.rename_project(&id, " Garden ").unwrap();
    assert_eq!(renamed.name, "Garden");
    assert_eq!(
        refused(scene.board.rename_project(&id, "two\nlines")),
        "out_of_range name"
    );
    scene.begin_batch(1, "board", &["1"]);
    assert_eq!(refused(scene.board.hide_project(&id)), "project_busy");
    scene.end_batch(1);
    scene.board.hide_project(&id).unwrap();
    assert_eq!(scene.board.projects().unwrap(), []);
    assert_eq!(refused(scene.board.tasks(&id)), "project_not_found");
    assert_eq!(refused(scene.board.hide_project(&id)), "project_not_found");
    let back = scene.board.add_folder(scene.repo.path()).unwrap();
    assert_eq!((back.name.as_str(), scene.titles().len()), ("Garden", 1));
}

#[test]
fn a_batch_makes_its_project_known() {
    let repo = TestRepo::new();
    let folder = tempfile::tempdir().unwrap();
    let state = StateFolder::at(folder.path()).unwrap();
    let scene = Scene {
        project: "garden-1".to_owned(),
        board: Board::open(&state).unwrap(),
        _folder: folder,
        state,
        repo,
    };
    assert_eq!(scene.board.projects().unwrap(), []);
    scene.begin_batch(1, "TODO.md", &["1"]);
    let known = scene.board.project("garden-1").unwrap();
    assert_eq!(known.path, scene.repo.path());
}

#[test]
fn an_address_is_cloned_once_and_can_be_run() {
    let mut scene = Scene::new();
    scene.repo.write("TODO.md", "- [ ] dig\n");
    scene.repo.commit("a plan");
    let url = format!("file://{}", scene.repo.path().display());
    let (project, cloning) = scene.board.add_url(&url).unwrap();
    assert_eq!(project.status, ProjectStatus::Cloning);
    let logins = Logins::new(Path::new("/bin/false"), []);
    // Somebody else is at it, so nobody needs to begin.
    assert!(scene.board.add_url(&url).unwrap().1.is_none());
    cloning.unwrap().run(&logins).unwrap();
    let ready = scene.board.project(&project.id).unwrap();
    assert_eq!(
        (ready.status, ready.url.as_deref()),
        (ProjectStatus::Ready, Some(url.as_str()))
    );
    let name = Store::name_of(&Git::find().unwrap(), &scene.state.stores(), &ready.path).unwrap();
    assert_eq!(ready.id, name);
    assert_eq!(
        scene.repo.git_in(&ready.path, &["rev-parse", "HEAD"]),
        scene.repo.head()
    );
    assert_eq!(
        scene
            .repo
            .git_in(&ready.path, &["status", "--porcelain", "-b"]),
        "## main...origin/main"
    );
    let imported = scene.board.import_file(&ready.id, "TODO.md").unwrap();
    assert_eq!(imported.tasks[0].title, "dig");
    assert!(scene.board.add_url(&url).unwrap().1.is_none());
}

#[test]
fn a_clone_that_fails_says_so_and_can_be_tried_again() {
    let mut scene = Scene::new();
    let url = "file:///no/such/place.git";
    let (project, cloning) = scene.board.add_url(url).unwrap();
    let logins = Logins::new(Path::new("/bin/false"), []);
    cloning.unwrap().run(&logins).unwrap_err();
    let failed = scene.board.project(&project.id).unwrap();
    assert_eq!(failed.status, ProjectStatus::Failed);
    assert!(failed.error.unwrap().contains("place.git"));
    let (again, cloning) = scene.board.add_url(url).unwrap();
    assert_eq!(again.status, ProjectStatus::Cloning);
    // Whoever dies at it leaves no clone that seems to be under way.
    drop(cloning);
    let left = scene.board.project(&project.id).unwrap();
    assert_eq!(left.status, ProjectStatus::Failed);
}

#[test]
fn only_addresses_that_name_a_place_are_taken_and_no_login_is_kept() {
    let mut scene = Scene::new();
    for wrong in [
        "",
        "ext::sh -c x",
        "--upload-pack=x",
        "https://a/\nb",
        "ftp://host/x",
        "/srv/git/x",
        "https://host/x?private_token=1",
    ] {
        let error = scene.board.add_url(wrong).unwrap_err();
        assert_eq!(
            (error.code(), error.fields()[0].path.as_str()),
            ("bad_url", "url"),
            "{wrong}"
        );
    }
    let (project, _) = scene
        .board
        .add_url("https://ann:s3cret@host.example/a/b.git")
        .unwrap();
    assert_eq!(project.url.as_deref(), Some("https://host.example/a/b.git"));
    assert_eq!(project.name, "b");
    let database = fs::read(scene.state.database()).unwrap();
    let log = fs::read(scene.state.database().with_extension("db-wal")).unwrap_or_default();
    let is_in = |bytes: &[u8]| bytes.windows(6).any(|part| part == b"s3cret");
    assert!(!is_in(&database) && !is_in(&log));
}

#[test]
fn a_project_tells_of_its_plan_until_it_is_imported() {
    let mut scene = Scene::new();
    let found = |scene: &Scene| scene.board.project(&scene.project).unwrap().found_plan;
    assert_eq!(found(&scene), None);
    let elsewhere = tempfile::NamedTempFile::new().unwrap();
    let pointer = format!("plan = \"{}\"\n", elsewhere.path().display());
    fs::write(scene.repo.path().join("pleach.toml"), pointer).unwrap();
    assert_eq!(found(&scene), None, "it is outside of the project");
    fs::remove_file(scene.repo.path().join("pleach.toml")).unwrap();
    fs::create_dir_all(scene.repo.path().join("docs/plans")).unwrap();
    let plan = scene.repo.path().join("docs/plans/spring.md");
    fs::write(plan, "- [ ] 1.1 dig\n").unwrap();
    assert_eq!(found(&scene).as_deref(), Some("docs/plans/spring.md"));
    let id = scene.project.clone();
    scene
        .board
        .import_file(&id, "docs/plans/spring.md")
        .unwrap();
    assert_eq!(found(&scene), None);
}

#[test]
fn what_changes_of_a_project_is_told_and_nothing_else() {
    let mut scene = Scene::new();
    let id = scene.project.clone();
    let state = scene.state.clone();
    let told = || {
        let database = Database::open(&state).unwrap();
        let entries = database.entries_after(0, 1_000).unwrap().into_iter();
        let project = Logged::Board(BoardEvent::ProjectUpdated {});
        entries.filter(|entry| entry.what == project).count()
    };
    assert_eq!(told(), 1, "it was added");
    let folder = scene.repo.path().to_owned();
    scene.board.add_folder(&folder).unwrap();
    assert_eq!(told(), 1, "it is there already");
    scene.board.rename_project(&id, "Garden").unwrap();
    scene.board.hide_project(&id).unwrap();
    scene.board.add_folder(&folder).unwrap();
    assert_eq!(told(), 4);
    save(&folder.join("TODO.md"), "- [ ] 1.1 dig\n");
    scene.board.import_file(&id, "TODO.md").unwrap();
    assert_eq!(told(), 5);
    save(&folder.join("TODO.md"), "- [ ] 1.1 dig\n- [ ] 1.1 sow\n");
    scene.board.sync(&id).unwrap();
    assert_eq!(told(), 6, "its plan cannot be read");
}
