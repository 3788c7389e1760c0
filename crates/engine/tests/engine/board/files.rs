//! Plans that are taken in: as text onto the board, as files that are mirrored.

use std::fs;
use std::os::unix::fs::symlink;

use pleach_domain::task::{Priority, TaskStatus};
use pleach_engine::board::{BoardTask, TasksToRun};
use pleach_engine::plan_to_run::PlanOrigin;

use super::{Scene, TaskChange, refused, save};

fn status(status: TaskStatus) -> TaskChange {
    TaskChange {
        status: Some(status),
        ..TaskChange::default()
    }
}

fn keys(tasks: &[BoardTask]) -> Vec<&str> {
    tasks.iter().map(|task| task.key.as_str()).collect()
}

#[test]
fn the_tasks_of_a_text_come_onto_the_board_with_their_ids_where_these_are_free() {
    let mut scene = Scene::new();
    scene.create("first", &[]);
    let text = "### 2. b\n**Dependencies**: 1\n\n### 1. a\ndo it\n";
    let imported = scene.board.import_text(&scene.project, text).unwrap();
    assert_eq!(keys(&imported.tasks), ["2", "3"]);
    assert_eq!(imported.tasks[0].depends_on, [imported.tasks[1].id.clone()]);
    assert_eq!(imported.tasks[1].plan, None);
    let next = scene.create("next", &[]);
    assert_eq!(next.key, "4");
    let TasksToRun {
        plan: run,
        tasks: ids,
        ..
    } = scene.board.execution_plan(&scene.project).unwrap();
    let stages = &run.document.plan.stages;
    assert_eq!(
        (ids.len(), stages.len(), stages[0].tasks[0].as_str()),
        (2, 2, "3")
    );
    assert_eq!(run.origin, PlanOrigin::Board);
}

#[test]
fn a_text_with_errors_brings_nothing_and_names_the_lines() {
    let mut scene = Scene::new();
    let text = "## Phase 1: x\n- [ ] 1.1 a (depends: 1.2)\n- [ ] 1.2 b (depends: 1.1)\n- [ ] 1.3 c (depends: 9.9)\n";
    let error = scene.board.import_text(&scene.project, text).unwrap_err();
    let lines: Vec<_> = error
        .fields()
        .iter()
        .map(|field| (field.code, field.line))
        .collect();
    assert_eq!(lines, [("cycle", Some(2)), ("unknown_dependency", Some(4))]);
    assert_eq!(
        refused(scene.board.import_text(&scene.project, "no tasks")),
        "no_tasks markdown"
    );
    assert_eq!(scene.titles(), Vec::<String>::new());
}

#[test]
fn a_file_is_mirrored_and_a_second_import_changes_nothing() {
    let mut scene = Scene::new();
    scene
        .repo
        .write("docs/plan.md", "- [ ] dig\n- [x] sow\n  deep\n");
    let imported = scene
        .board
        .import_file(&scene.project, "docs/plan.md")
        .unwrap();
    let sow = &imported.tasks[1];
    assert_eq!(
        (sow.plan.as_deref(), sow.line),
        (Some("docs/plan.md"), Some(2))
    );
    assert_eq!(
        (sow.status.as_str(), sow.description.trim()),
        ("completed", "deep")
    );
    let told = scene.told();
    let again = scene
        .board
        .import_file(&scene.project, "docs/plan.md")
        .unwrap();
    assert_eq!(again, imported);
    assert_eq!(scene.told(), told);
    let project = scene.board.project(&scene.project).unwrap();
    assert_eq!(
        (project.plan_files, project.has_plan),
        (vec!["docs/plan.md".to_owned()], true)
    );
}

#[test]
fn only_files_inside_the_project_are_mirrored() {
    let mut scene = Scene::new();
    let outside = scene.repo.beside("outside.md");
    fs::write(&outside, "- [ ] secret\n").unwrap();
    symlink(&outside, scene.repo.path().join("link.md")).unwrap();
    fs::create_dir(scene.repo.path().join("folder")).unwrap();
    let absolute = outside.display().to_string();
    for wrong in [
        "",
        "../outside.md",
        &absolute,
        "link.md",
        "gone.md",
        ".git/config",
        "a\0b",
    ] {
        let told = refused(scene.board.import_file(&scene.project, wrong));
        assert_eq!(told, "bad_path path", "{wrong}");
    }
    assert_eq!(
        refused(scene.board.import_file(&scene.project, "folder")),
        "plan_file path"
    );
    scene.repo.write("twice.md", "- [ ] same\n- [ ] same\n");
    let error = scene
        .board
        .import_file(&scene.project, "twice.md")
        .unwrap_err();
    assert!(error.fields()[0].line.is_some(), "{error}");
    assert_eq!(scene.titles(), Vec::<String>::new());
}

#[test]
fn what_a_mirrored_task_is_is_said_in_its_file() {
    let mut scene = Scene::new();
    scene.repo.write("TODO.md", "# Plan\n\n- [ ] dig\n");
    let dig = scene
        .board
        .import_file(&scene.project, "TODO.md")
        .unwrap()
        .tasks
        .remove(0);
    let title = TaskChange {
        title: Some("x".to_owned()),
        ..TaskChange::default()
    };
    let error = scene.change(&dig.id, &title).unwrap_err();
    assert_eq!(error.code(), "task_of_plan_file");
    assert_eq!(error.hint().unwrap(), "edit it in TODO.md:3");
    assert_eq!(
        refused(scene.board.delete_task(&dig.id)),
        "task_of_plan_file"
    );
    let own = TaskChange {
        priority: Some(Priority::High),
        labels: Some(vec!["garden".to_owned()]),
        ..TaskChange::default()
    };
    let own = scene.change(&dig.id, &own).unwrap();
    assert_eq!(
        (own.priority, own.labels),
        (Priority::High, vec!["garden".to_owned()])
    );
    assert_eq!(
        fs::read_to_string(scene.repo.path().join("TODO.md")).unwrap(),
        "# Plan\n\n- [ ] dig\n"
    );
}

#[test]
fn a_status_is_written_to_the_file_if_the_file_can_hold_it() {
    let mut scene = Scene::new();
    let path = scene.repo.path().join("TODO.md");
    fs::write(&path, "- [ ] dig\r\n- [ ] sow  \r\n").unwrap();
    let sow = scene
        .board
        .import_file(&scene.project, "TODO.md")
        .unwrap()
        .tasks
        .remove(1);
    let done = scene
        .change(&sow.id, &status(TaskStatus::Completed))
        .unwrap();
    assert_eq!(done.status.as_str(), "completed");
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "- [ ] dig\r\n- [x] sow  \r\n"
    );
    for cannot in [
        TaskStatus::InProgress,
        TaskStatus::Failed,
        TaskStatus::Skipped,
    ] {
        assert_eq!(
            refused(scene.change(&sow.id, &status(cannot))),
            "cannot_hold"
        );
    }
    assert_eq!(scene.named("sow").status.as_str(), "completed");
    // A person takes it out while the board still shows it.
    save(&path, "- [ ] dig\r\n");
    assert_eq!(
        refused(scene.change(&sow.id, &status(TaskStatus::Pending))),
        "task_not_found"
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "- [ ] dig\r\n");
}

#[test]
fn a_mirrored_task_is_run_from_its_file_as_it_stands() {
    let mut scene = Scene::new();
    let path = scene.repo.path().join("TODO.md");
    fs::write(&path, "- [ ] dig\n").unwrap();
    let dig = scene
        .board
        .import_file(&scene.project, "TODO.md")
        .unwrap()
        .tasks
        .remove(0);
    save(&path, "- [ ] plan\n- [ ] dig\n  deeper\n");
    let found = scene.board.tasks_to_run(std::slice::from_ref(&dig.id));
    let TasksToRun {
        plan: run,
        tasks: ids,
        ..
    } = found.unwrap();
    assert_eq!(run.origin, PlanOrigin::File(path.clone()));
    assert_eq!(
        (ids[0].as_str(), run.document.plan.tasks[1].details.trim()),
        ("2", "deeper")
    );
    save(&path, "- [ ] plan\n");
    assert_eq!(refused(scene.board.tasks_to_run(&[dig.id])), "task_gone");
}
