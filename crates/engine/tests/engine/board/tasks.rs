//! Tasks that people make, change and delete.

use pleach_domain::id::TaskId;
use pleach_domain::task::{Priority, TaskStatus};

use super::{Database, NewTask, Scene, TaskChange, refused};

#[test]
fn tasks_are_numbered_from_one_and_no_number_is_given_twice() {
    let mut scene = Scene::new();
    let (one, two) = (scene.create("a", &[]), scene.create("b", &[]));
    assert_eq!((one.key.as_str(), two.key.as_str()), ("1", "2"));
    scene.board.delete_task(&two.id).unwrap();
    assert_eq!(scene.create("c", &[]).key, "3");
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    assert!(one.id.len() == 16 && one.id.chars().all(is_plain));
    assert_eq!(
        scene.told(),
        ["created a", "created b", "deleted", "created c"]
    );
}

#[test]
fn a_task_wants_a_size_that_is_configured_until_it_wants_none() {
    let mut scene = Scene::new();
    let folder = scene.board.project(&scene.project).unwrap().path;
    std::fs::write(folder.join("pleach.toml"), "[sizes.large]\ncpus = 2\n").unwrap();
    let new = |size: &str| NewTask {
        project: scene.project.clone(),
        title: "a".to_owned(),
        size: Some(size.to_owned()),
        ..NewTask::default()
    };
    let (large, unknown, none) = (new("large"), new("lage"), new(""));
    let made = scene.board.create_task(&large).unwrap();
    assert_eq!(made.size.as_deref(), Some("large"));
    assert_eq!(
        refused(scene.board.create_task(&unknown)),
        "unknown_size size"
    );
    assert_eq!(scene.board.create_task(&none).unwrap().size, None);
    let to = |size: &str| TaskChange {
        size: Some(size.to_owned()),
        ..TaskChange::default()
    };
    let changed = scene.board.change_task(&made.id, &TaskChange::default());
    assert_eq!(changed.unwrap().size.as_deref(), Some("large"));
    let run = scene
        .board
        .tasks_to_run(std::slice::from_ref(&made.id))
        .unwrap();
    let size = run.plan.document.plan.tasks[0].size.as_ref();
    assert_eq!(size.map(|size| size.name.as_str()), Some("large"));
    assert_eq!(
        refused(scene.board.change_task(&made.id, &to("x"))),
        "unknown_size size"
    );
    let changed = scene.board.change_task(&made.id, &to("default")).unwrap();
    assert_eq!(changed.size.as_deref(), Some("default"));
    assert_eq!(
        scene.board.change_task(&made.id, &to("")).unwrap().size,
        None
    );
}

#[test]
fn what_is_wrong_with_a_new_task_is_told_all_at_once() {
    let mut scene = Scene::new();
    let new = NewTask {
        project: scene.project.clone(),
        title: "two\nlines".to_owned(),
        description: "x".repeat(100_001),
        labels: vec!["x".repeat(51)],
        depends_on: vec![String::new(); 201],
        ..NewTask::default()
    };
    let told = refused(scene.board.create_task(&new));
    assert_eq!(told, "out_of_range title description labels[0] dependsOn");
    let title = |title: String| NewTask {
        project: scene.project.clone(),
        title,
        ..NewTask::default()
    };
    let (longest, longer) = (title("ä".repeat(500)), title("ä".repeat(501)));
    scene.board.create_task(&longest).unwrap();
    assert_eq!(
        refused(scene.board.create_task(&longer)),
        "out_of_range title"
    );
    let nowhere = NewTask {
        project: "nowhere".to_owned(),
        ..longest
    };
    assert_eq!(
        refused(scene.board.create_task(&nowhere)),
        "project_not_found"
    );
    assert_eq!(scene.told().len(), 1);
}

#[test]
fn dependencies_are_tasks_of_the_same_board_and_go_round_in_no_circle() {
    let mut scene = Scene::new();
    let a = scene.create("a", &[]);
    let b = scene.create("b", &[&a]);
    let c = scene.create("c", &[&b, &a, &a]);
    assert_eq!(c.depends_on, [b.id.clone(), a.id.clone()]);
    let elsewhere = tempfile::tempdir().unwrap();
    let other = scene.board.add_folder(elsewhere.path()).unwrap().id;
    let foreign = NewTask {
        project: other,
        title: "f".to_owned(),
        ..NewTask::default()
    };
    let foreign = scene.board.create_task(&foreign).unwrap();
    let mut needs = |ids: &[&str]| {
        let ids = ids.iter().map(|id| (*id).to_owned()).collect();
        let change = TaskChange {
            depends_on: Some(ids),
            ..TaskChange::default()
        };
        scene.change(&a.id, &change)
    };
    let told = refused(needs(&["nobody", &foreign.id, &a.id]));
    assert_eq!(
        told,
        "unknown_dependency dependsOn[0] dependsOn[1] dependsOn[2]"
    );
    let error = needs(&[&c.id]).unwrap_err();
    assert_eq!(
        (error.code(), error.fields()[0].path.as_str()),
        ("cycle", "dependsOn[0]")
    );
    assert!(error.to_string().contains(" → "), "{error}");
    assert_eq!(needs(&[]).unwrap().depends_on, Vec::<String>::new());
}

#[test]
fn a_change_touches_what_it_names_and_is_told_once() {
    let mut scene = Scene::new();
    let task = scene.create("a", &[]);
    let change = TaskChange {
        title: Some("b".to_owned()),
        priority: Some(Priority::High),
        labels: Some(vec!["x".into(), "x".into(), " y ".into()]),
        status: Some(TaskStatus::Skipped),
        position: Some(-1.5),
        ..TaskChange::default()
    };
    let changed = scene.change(&task.id, &change).unwrap();
    assert_eq!(
        (changed.title.as_str(), changed.status.as_str()),
        ("b", "skipped")
    );
    assert_eq!(
        (changed.labels, changed.position),
        (vec!["x".to_owned(), "y".to_owned()], -1.5)
    );
    assert_eq!(changed.key, task.key);
    scene.change(&task.id, &change).unwrap();
    assert_eq!(scene.told(), ["created a", "updated b"]);
    let nowhere = TaskChange {
        position: Some(f64::NAN),
        ..TaskChange::default()
    };
    let error = scene.change(&task.id, &nowhere).unwrap_err();
    assert_eq!(error.fields()[0].path, "position");
    assert_eq!(
        refused(scene.change("nobody", &TaskChange::default())),
        "task_not_found"
    );
}

#[test]
fn a_task_of_a_running_batch_stays_what_it_is() {
    let mut scene = Scene::new();
    let task = scene.create("a", &[]);
    scene.begin_batch(1, "board", &["1"]);
    let title = TaskChange {
        title: Some("b".to_owned()),
        ..TaskChange::default()
    };
    let status = TaskChange {
        status: Some(TaskStatus::Completed),
        ..TaskChange::default()
    };
    let labels = TaskChange {
        labels: Some(vec!["x".to_owned()]),
        ..TaskChange::default()
    };
    for change in [&title, &status] {
        assert_eq!(refused(scene.change(&task.id, change)), "task_busy");
    }
    assert_eq!(refused(scene.board.delete_task(&task.id)), "task_busy");
    assert_eq!(scene.change(&task.id, &labels).unwrap().labels, ["x"]);
    scene.end_batch(1);
    assert_eq!(scene.change(&task.id, &title).unwrap().title, "b");
    scene.board.delete_task(&task.id).unwrap();
}

#[test]
fn what_needed_a_deleted_task_no_longer_does() {
    let mut scene = Scene::new();
    let a = scene.create("a", &[]);
    let b = scene.create("b", &[&a]);
    scene.board.delete_task(&a.id).unwrap();
    assert_eq!(
        scene.board.task(&b.id).unwrap().depends_on,
        Vec::<String>::new()
    );
    assert_eq!(
        scene.told(),
        ["created a", "created b", "deleted", "updated b"]
    );
    assert_eq!(refused(scene.board.task(&a.id)), "task_not_found");
}

#[test]
fn a_batch_marks_tasks_of_the_board_and_tells_those_that_changed() {
    let mut scene = Scene::new();
    scene.create("a", &[]);
    scene.create("b", &[]);
    let mut database = Database::open(&scene.state).unwrap();
    let states = [
        (TaskId::new("1"), TaskStatus::InProgress),
        (TaskId::new("2"), TaskStatus::Pending),
        (TaskId::new("nobody"), TaskStatus::Completed),
    ];
    pleach_engine::board::mark_on_board(&mut database, &scene.project, &states).unwrap();
    assert_eq!(scene.named("a").status.as_str(), "in_progress");
    assert_eq!(scene.told()[2..], ["updated a"]);
}
