//! Mirrored files and their tasks stay in step, whoever changes them.

use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use pleach_domain::task::{Priority, TaskStatus};
use pleach_formats::{Change, Identity, Marker, set_markers};
use proptest::prelude::*;

use super::{BoardTask, Scene, TaskChange, save};

fn labelled(label: &str) -> TaskChange {
    TaskChange {
        labels: Some(vec![label.to_owned()]),
        ..TaskChange::default()
    }
}

fn mirrored(text: &str) -> (Scene, std::path::PathBuf) {
    let mut scene = Scene::new();
    let path = scene.repo.path().join("TODO.md");
    fs::write(&path, text).unwrap();
    scene.board.import_file(&scene.project, "TODO.md").unwrap();
    (scene, path)
}

#[test]
fn a_task_that_moves_keeps_what_was_said_of_it() {
    let (mut scene, path) = mirrored("- [ ] dig\n- [ ] sow\n");
    let sow = scene.named("sow");
    scene.change(&sow.id, &labelled("garden")).unwrap();
    save(&path, "- [ ] plan\n- [x] sow\n- [ ] dig\n");
    scene.board.sync(&scene.project).unwrap();
    let now = scene.named("sow");
    assert_eq!(
        (&now.id, &now.labels),
        (&sow.id, &vec!["garden".to_owned()])
    );
    assert_eq!(
        (now.key.as_str(), now.status.as_str(), now.line),
        ("2", "completed", Some(2))
    );
    assert_eq!(scene.named("plan").key, "1");
    assert_eq!(
        scene.told()[3..],
        ["created plan", "updated sow", "updated dig"]
    );
}

#[test]
fn a_task_with_an_id_may_be_renamed_and_one_that_gets_an_id_stays() {
    let (mut scene, path) = mirrored("- [ ] dig\n- [ ] sow\n");
    let dig = scene.named("dig");
    save(&path, "- [ ] 1.1 dig\n- [ ] 1.2 sow\n");
    scene.board.sync(&scene.project).unwrap();
    assert_eq!(
        (scene.named("dig").id, scene.named("dig").key.as_str()),
        (dig.id.clone(), "1.1")
    );
    save(&path, "- [ ] 1.2 sow\n- [ ] 1.1 dig deep\n");
    scene.board.sync(&scene.project).unwrap();
    assert_eq!(scene.named("dig deep").id, dig.id);
}

#[test]
fn a_file_that_cannot_be_read_changes_nothing_and_says_so() {
    let (mut scene, path) = mirrored("- [ ] 1.1 dig\n- [ ] 1.2 sow\n");
    let told = scene.told();
    let error = |scene: &Scene| scene.board.project(&scene.project).unwrap().plan_error;
    save(&path, "- [ ] 1.1 dig\n- [ ] 1.1 sow\n");
    scene.board.sync(&scene.project).unwrap();
    assert!(error(&scene).unwrap().starts_with("TODO.md:2: "));
    fs::remove_file(&path).unwrap();
    scene.board.sync(&scene.project).unwrap();
    assert!(error(&scene).unwrap().contains("no such file"));
    assert_eq!(scene.told(), told);
    assert_eq!(scene.titles(), ["dig", "sow"]);
    save(&path, "- [ ] 1.2 sow\n");
    scene.board.sync(&scene.project).unwrap();
    assert_eq!(
        (error(&scene), scene.titles()),
        (None, vec!["sow".to_owned()])
    );
}

#[test]
fn a_file_that_is_emptied_to_be_written_keeps_its_tasks() {
    let (mut scene, path) = mirrored("- [ ] dig\n- [ ] sow\n");
    let sow = scene.named("sow");
    scene.change(&sow.id, &labelled("garden")).unwrap();
    let is_saved = AtomicBool::new(false);
    thread::scope(|scope| {
        // Several, so that one of them is at it at any moment, however busy the machine is.
        for _ in 0..8 {
            scope.spawn(|| {
                while !is_saved.load(Ordering::SeqCst) {
                    fs::write(&path, "").unwrap();
                }
            });
        }
        while !fs::read_to_string(&path).unwrap().is_empty() {
            thread::yield_now();
        }
        scene.board.sync(&scene.project).unwrap();
        let found = scene.titles();
        is_saved.store(true, Ordering::SeqCst);
        assert_eq!(found, ["dig", "sow"]);
    });
    fs::write(&path, "- [ ] dig\n- [ ] sow\n").unwrap();
    scene.board.sync(&scene.project).unwrap();
    let now = scene.named("sow");
    assert_eq!((now.id, now.labels), (sow.id, vec!["garden".to_owned()]));
    fs::write(&path, "- [ ] dig\n").unwrap();
    scene.board.sync(&scene.project).unwrap();
    assert_eq!(scene.titles(), ["dig"], "it is not written any more");
}

#[test]
fn a_file_of_too_many_tasks_is_not_taken_in() {
    let (mut scene, path) = mirrored("- [ ] dig\n");
    let many: Vec<String> = (0..10_001).map(|at| format!("- [ ] {at}th\n")).collect();
    let many = many.concat();
    save(&path, &many);
    scene.board.sync(&scene.project).unwrap();
    assert_eq!(scene.titles(), ["dig"]);
    let error = scene.board.project(&scene.project).unwrap().plan_error;
    assert_eq!(error.unwrap(), "TODO.md has more than 10000 tasks");
    let refused = scene.board.import_file(&scene.project, "TODO.md");
    assert_eq!(refused.unwrap_err().code(), "out_of_range");
}

#[test]
fn a_file_that_becomes_a_link_out_of_the_project_is_not_followed() {
    let (mut scene, path) = mirrored("- [ ] dig\n");
    let outside = scene.repo.beside("outside.md");
    fs::write(&outside, "- [ ] secret\n").unwrap();
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&outside, &path).unwrap();
    scene.board.sync(&scene.project).unwrap();
    assert_eq!(scene.titles(), ["dig"]);
    assert!(
        scene
            .board
            .project(&scene.project)
            .unwrap()
            .plan_error
            .is_some()
    );
}

#[test]
fn an_edit_is_seen_though_time_and_size_are_the_same() {
    let (mut scene, path) = mirrored("- [ ] dig\n");
    let long_ago = SystemTime::now() - Duration::from_hours(1);
    let at = |path: &Path| {
        File::options()
            .write(true)
            .open(path)
            .unwrap()
            .set_modified(long_ago)
    };
    at(&path).unwrap();
    scene.board.sync(&scene.project).unwrap();
    fs::write(&path, "- [x] dig\n").unwrap();
    at(&path).unwrap();
    scene.board.sync(&scene.project).unwrap();
    assert_eq!(scene.named("dig").status.as_str(), "completed");
}

#[test]
fn whoever_spoke_last_of_a_priority_is_right() {
    let (mut scene, path) = mirrored("### 1. dig\n**Priority**: Low\n");
    assert_eq!(scene.named("dig").priority, Priority::Low);
    let high = TaskChange {
        priority: Some(Priority::High),
        ..TaskChange::default()
    };
    let id = scene.named("dig").id;
    scene.change(&id, &high).unwrap();
    save(&path, "### 1. dig\n**Priority**: Low\nmore\n");
    scene.board.sync(&scene.project).unwrap();
    assert_eq!(scene.named("dig").priority, Priority::High);
    save(&path, "### 1. dig\n**Priority**: Critical\n");
    scene.board.sync(&scene.project).unwrap();
    assert_eq!(scene.named("dig").priority, Priority::Critical);
}

/// What a person or Pleach does next; numbers choose among what is there.
#[derive(Debug, Clone)]
enum Deed {
    Move(usize, usize),
    Rename(usize, u8),
    Tick(usize),
    Delete(usize),
    Add(usize, u8),
    Mark(usize),
    Label(usize),
    Sync,
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let deed = prop_oneof![
        (0..9_usize, 0..9_usize).prop_map(|(from, to)| Deed::Move(from, to)),
        (0..9_usize, any::<u8>()).prop_map(|(at, word)| Deed::Rename(at, word)),
        (0..9_usize).prop_map(Deed::Tick),
        (0..9_usize).prop_map(Deed::Delete),
        (0..9_usize, any::<u8>()).prop_map(|(at, word)| Deed::Add(at, word)),
        (0..9_usize).prop_map(Deed::Mark),
        (0..9_usize).prop_map(Deed::Label),
        Just(Deed::Sync),
    ];
    prop::collection::vec(deed, 1..16)
}

fn identities() -> impl Strategy<Value = Identity> {
    prop_oneof![Just(Identity::WrittenId), Just(Identity::Text)]
}

/// Tasks of two lines each, with ids or without.
fn first_text(identity: Identity) -> String {
    let line = |number: usize| match identity {
        Identity::WrittenId => {
            format!("- [ ] 1.{number} weed bed {number}\n  words of {number}  \n")
        }
        Identity::Text => format!("- [ ] weed bed {number}\n  words of {number}  \n"),
    };
    (1..=4).map(line).collect()
}

/// The text after a person's edit; marks and labels leave it alone.
fn edited(text: &str, deed: &Deed, identity: Identity, count: usize) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut tasks: Vec<String> = lines.chunks(2).map(<[&str]>::concat).collect();
    let many = tasks.len().max(1);
    let new = |word: u8| match identity {
        Identity::WrittenId => format!("- [ ] 2.{count} new {word} {count}\n  said {word}\n"),
        Identity::Text => format!("- [ ] new {word} {count}\n  said {word}\n"),
    };
    match deed {
        Deed::Add(at, word) => tasks.insert((*at).min(tasks.len()), new(*word)),
        _ if tasks.is_empty() => {}
        Deed::Move(from, to) => {
            let task = tasks.remove(from % many);
            tasks.insert(to % many, task);
        }
        Deed::Rename(at, word) => {
            let task = &mut tasks[at % many];
            *task = task.replacen('\n', &format!(" or {word} {count}\n"), 1);
        }
        Deed::Tick(at) => {
            let task = &mut tasks[at % many];
            *task = task.replacen("- [ ]", "- [x]", 1);
        }
        Deed::Delete(at) => drop(tasks.remove(at % many)),
        Deed::Mark(_) | Deed::Label(_) | Deed::Sync => {}
    }
    tasks.concat()
}

/// What a row and a reading of the file have in common.
type Facts = (String, String, String, &'static str, u32);

fn facts(task: &BoardTask) -> Facts {
    let (key, title) = (task.key.clone(), task.title.clone());
    (
        key,
        title,
        task.description.clone(),
        task.status.as_str(),
        task.line.unwrap(),
    )
}

/// What a person knows a task by.
fn name_of(task: &BoardTask, identity: Identity) -> String {
    match identity {
        Identity::WrittenId => task.key.clone(),
        Identity::Text => task.title.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_anybody_wrote_is_lost(identity in identities(), deeds in deeds()) {
        let mut text = first_text(identity);
        let (mut scene, path) = mirrored(&text);
        let mut labels: Vec<(String, String)> = Vec::new();
        for task in scene.board.tasks(&scene.project).unwrap() {
            let label = format!("first {}", task.key);
            scene.change(&task.id, &labelled(&label)).unwrap();
            labels.push((name_of(&task, identity), label));
        }
        for (count, deed) in deeds.iter().enumerate() {
            match deed {
                Deed::Sync => scene.board.sync(&scene.project).unwrap(),
                Deed::Mark(at) | Deed::Label(at) => {
                    scene.board.sync(&scene.project).unwrap();
                    let tasks = scene.board.tasks(&scene.project).unwrap();
                    let Some(task) = tasks.get(at % tasks.len().max(1)) else { continue };
                    if matches!(deed, Deed::Label(_)) {
                        let label = format!("label {count}");
                        scene.change(&task.id, &labelled(&label)).unwrap();
                        labels.retain(|(name, _)| *name != name_of(task, identity));
                        labels.push((name_of(task, identity), label));
                        continue;
                    }
                    let change = TaskChange {
                        status: Some(TaskStatus::Completed),
                        ..TaskChange::default()
                    };
                    scene.change(&task.id, &change).unwrap();
                    let mark = Change {
                        id: pleach_domain::id::TaskId::new(task.key.as_str()),
                        title: task.title.clone(),
                        identity,
                        to: Marker::Completed,
                    };
                    text = set_markers(&text, &[mark]).unwrap().unwrap_or(text);
                }
                _ => {
                    text = edited(&text, deed, identity, count);
                    save(&path, &text);
                }
            }
            prop_assert_eq!(&fs::read_to_string(&path).unwrap(), &text);
        }
        scene.board.sync(&scene.project).unwrap();
        let mut rows = scene.board.tasks(&scene.project).unwrap();
        rows.sort_by_key(|row| row.line);
        let plan = pleach_formats::read(&text).plan;
        let fresh: Vec<Facts> = plan.tasks.iter().map(|task| {
            let (key, title) = (task.id.to_string(), task.title.clone());
            (key, title, task.details.clone(), task.status.as_str(), task.line)
        }).collect();
        prop_assert_eq!(rows.iter().map(facts).collect::<Vec<_>>(), fresh);
        for (name, label) in labels {
            if let Some(row) = rows.iter().find(|row| name_of(row, identity) == name) {
                prop_assert_eq!(&row.labels, &[label]);
            }
        }
    }
}
