//! Plans to run, and execution plans.

use pleach_domain::id::TaskId;
use pleach_domain::task::TaskStatus;
use pleach_engine::board::{ExecutionPlan, TasksToRun};
use pleach_engine::plan_to_run::PlanOrigin;
use pleach_formats::Mark;
use serde_json::json;

use super::{Scene, TaskChange, refused};

fn plan(json: &serde_json::Value) -> ExecutionPlan {
    serde_json::from_value(json.clone()).unwrap()
}

#[test]
fn tasks_of_the_board_are_run_from_the_board() {
    let mut scene = Scene::new();
    let a = scene.create("a", &[]);
    let b = scene.create("b", &[&a]);
    let TasksToRun {
        project,
        plan: run,
        tasks: ids,
        ..
    } = scene.board.tasks_to_run(&[b.id, a.id]).unwrap();
    assert_eq!(
        (project.id, run.origin),
        (scene.project.clone(), PlanOrigin::Board)
    );
    assert_eq!(
        ids.iter().map(TaskId::as_str).collect::<Vec<_>>(),
        ["2", "1"]
    );
    assert_eq!(run.document.plan.tasks[1].needs[0].on.as_str(), "1");
    assert!(
        run.document
            .places
            .iter()
            .all(|place| place.mark == Mark::None)
    );
}

#[test]
fn a_batch_is_of_plans_of_one_project() {
    let mut scene = Scene::new();
    let a = scene.create("a", &[]);
    scene.repo.write("TODO.md", "- [ ] dig\n");
    let dig = scene
        .board
        .import_file(&scene.project, "TODO.md")
        .unwrap()
        .tasks
        .remove(0);
    assert_eq!(refused(scene.board.tasks_to_run(&[])), "empty_batch");
    assert_eq!(
        refused(scene.board.tasks_to_run(&["nobody".into()])),
        "task_not_found"
    );
    let both = [a.id.clone(), dig.id.clone()];
    let TasksToRun {
        plan, tasks: ids, ..
    } = scene.board.tasks_to_run(&both).unwrap();
    assert_eq!(ids, ["1", "board-1"].map(TaskId::new));
    let shown = scene.board.ids_of(&scene.project, &plan).unwrap();
    assert_eq!((&shown[&ids[0]], &shown[&ids[1]]), (&dig.id, &a.id));
    let elsewhere = tempfile::tempdir().unwrap();
    let other = scene.board.add_folder(elsewhere.path()).unwrap().id;
    let foreign = super::NewTask {
        project: other,
        title: "f".to_owned(),
        ..super::NewTask::default()
    };
    let foreign = scene.board.create_task(&foreign).unwrap();
    assert_eq!(
        refused(scene.board.tasks_to_run(&[a.id, foreign.id])),
        "mixed_projects"
    );
}

#[test]
fn an_execution_plan_comes_back_as_it_was_set() {
    let mut scene = Scene::new();
    scene.create("of the board", &[]);
    assert_eq!(scene.board.shown_plan(&scene.project).unwrap(), None);
    assert_eq!(
        refused(scene.board.execution_plan(&scene.project)),
        "no_plan"
    );
    let written = json!({
        "batches": [
            {"batch_id": 1, "task_ids": ["a", "1"], "can_parallel": true},
            {"batch_id": "last", "task_ids": ["b"], "can_parallel": false},
        ],
        "tasks": [
            {"id": "a", "title": "A", "prompt": "do a", "depends_on": [], "files": ["x.rs"]},
            {"id": "b", "title": "B", "prompt": "", "depends_on": ["a"], "files": []},
        ],
    });
    let put = scene
        .board
        .put_plan(&scene.project, &plan(&written))
        .unwrap();
    assert_eq!(serde_json::to_value(&put).unwrap(), written);
    let shown = scene.board.shown_plan(&scene.project).unwrap().unwrap();
    assert_eq!(shown, put);
    let told = scene.told();
    assert_eq!(told[1..], ["created A", "created B"]);
    scene
        .board
        .put_plan(&scene.project, &plan(&written))
        .unwrap();
    assert_eq!(scene.told(), told);
    let TasksToRun {
        plan: run,
        tasks: ids,
        ..
    } = scene.board.execution_plan(&scene.project).unwrap();
    assert_eq!(ids.len(), 3);
    let stages = &run.document.plan.stages;
    assert_eq!((stages.len(), stages[1].can_parallel), (2, false));
}

#[test]
fn only_what_is_open_of_an_execution_plan_is_run() {
    let mut scene = Scene::new();
    let written = json!({"tasks": [{"id": "a"}, {"id": "b", "depends_on": ["a"]}]});
    scene
        .board
        .put_plan(&scene.project, &plan(&written))
        .unwrap();
    let done = TaskChange {
        status: Some(TaskStatus::Completed),
        ..TaskChange::default()
    };
    let a = scene.named("a").id;
    scene.change(&a, &done).unwrap();
    scene.create("not of the plan", &[]);
    // Saying the plan again does not open what is done.
    scene
        .board
        .put_plan(&scene.project, &plan(&written))
        .unwrap();
    let TasksToRun {
        plan: run,
        tasks: ids,
        ..
    } = scene.board.execution_plan(&scene.project).unwrap();
    assert_eq!(ids.iter().map(TaskId::as_str).collect::<Vec<_>>(), ["b"]);
    assert_eq!(run.document.plan.tasks.len(), 2);
}

#[test]
fn what_is_wrong_with_an_execution_plan_names_its_field() {
    let mut scene = Scene::new();
    let cases = [
        (
            json!({"tasks": [{"id": "a"}, {"id": "a"}]}),
            "duplicate_id tasks[1].id",
        ),
        (
            json!({"tasks": [{"id": "a", "depends_on": ["a"]}]}),
            "self_dependency tasks[0].depends_on[0]",
        ),
        (
            json!({"tasks": [{"id": "a", "depends_on": ["x"]}]}),
            "unknown_dependency tasks[0].depends_on[0]",
        ),
        (
            json!({"tasks": [{"id": "a", "depends_on": ["b"]}, {"id": "b", "depends_on": ["a"]}]}),
            "cycle tasks[0].depends_on[0]",
        ),
        (
            json!({"batches": [{"batch_id": 1, "task_ids": ["x"]}]}),
            "task_not_found batches[0].task_ids",
        ),
        (
            json!({"batches": [{"batch_id": 1, "task_ids": ["a"]}, {"batch_id": 2, "task_ids": ["a"]}], "tasks": [{"id": "a"}]}),
            "bad_plan batches[1].task_ids",
        ),
        (
            json!({"tasks": [{"id": "", "title": "two\nlines"}]}),
            "out_of_range tasks[0].id tasks[0].title",
        ),
    ];
    for (wrong, told) in cases {
        assert_eq!(
            refused(scene.board.put_plan(&scene.project, &plan(&wrong))),
            told
        );
    }
    assert_eq!(scene.titles(), Vec::<String>::new());
    assert_eq!(scene.board.shown_plan(&scene.project).unwrap(), None);
}

#[test]
fn a_plan_may_choose_any_size_where_none_is_configured_and_else_one_of_those() {
    let mut scene = Scene::new();
    let written = json!({"tasks": [{"id": "a", "size": "large"}, {"id": "b", "size": "M"}]});
    let put = |scene: &mut Scene| scene.board.put_plan(&scene.project, &plan(&written));
    put(&mut scene).unwrap();
    let config = scene
        .board
        .project(&scene.project)
        .unwrap()
        .path
        .join("pleach.toml");
    std::fs::write(&config, "sizes.large.cpus = 2\n").unwrap();
    assert_eq!(refused(put(&mut scene)), "unknown_size tasks[1].size");
    std::fs::write(&config, "where = \"slurm\"\n").unwrap();
    assert_eq!(
        refused(put(&mut scene)),
        "unknown_size tasks[0].size tasks[1].size"
    );
    std::fs::write(&config, "[sizes]\nlarge.cpus = 2\nM.cpus = 1\n").unwrap();
    put(&mut scene).unwrap();
}

#[test]
fn a_task_that_a_batch_is_at_is_not_changed_by_a_plan() {
    let mut scene = Scene::new();
    let written = json!({"tasks": [{"id": "a", "title": "A"}]});
    scene
        .board
        .put_plan(&scene.project, &plan(&written))
        .unwrap();
    scene.begin_batch(1, "board", &["a"]);
    scene
        .board
        .put_plan(&scene.project, &plan(&written))
        .unwrap();
    let other = json!({"tasks": [{"id": "b"}, {"id": "a", "title": "other"}]});
    assert_eq!(
        refused(scene.board.put_plan(&scene.project, &plan(&other))),
        "task_busy"
    );
    assert_eq!(scene.titles(), ["A"]);
}

#[test]
fn the_execution_plan_of_a_file_is_its_waves() {
    let mut scene = Scene::new();
    let text = "### 1. a\n**Status**: [COMPLETED]\n\n### 2. b\nbuild\n**Dependencies**: 1\n\n### 3. c\n**Dependencies**: 1\n\n### 4. d\n**Dependencies**: 2, 3\n";
    scene.repo.write("TODO.md", text);
    scene.board.import_file(&scene.project, "TODO.md").unwrap();
    let shown = scene.board.shown_plan(&scene.project).unwrap().unwrap();
    let shown = serde_json::to_value(shown).unwrap();
    assert_eq!(
        shown["batches"],
        json!([
            {"batch_id": 1, "task_ids": ["2", "3"], "can_parallel": true},
            {"batch_id": 2, "task_ids": ["4"], "can_parallel": false},
        ])
    );
    assert_eq!(shown["tasks"][2]["depends_on"], json!(["2", "3"]));
    assert_eq!(shown["tasks"][0]["depends_on"], json!([]));
    let TasksToRun {
        plan: run,
        tasks: ids,
        ..
    } = scene.board.execution_plan(&scene.project).unwrap();
    assert_eq!((run.text.as_str(), ids.len()), (text, 3));
}
