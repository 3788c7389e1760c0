//! The end of a resolution: kept, gone, and nothing else moved.

use std::fs;

use pleach_domain::event::{BatchEvent, Event, TaskEvent};
use pleach_engine::resolve::{ResolutionStart, ResolveError};
use pleach_git::worktree::{TreeState, finish_removals, list};
use pleach_log::database::Database;

use super::scene::{Scene, names, of_task};

#[test]
fn leaving_it_out_keeps_what_was_done_and_leaves_nothing_else() {
    let scene = Scene::of_one_line();
    let refs = scene.look(&["for-each-ref"]);
    let user = scene.repo.fingerprint();
    scene.start();
    scene.write("a.txt", "half done\n");
    let cleared = scene.resolution().abort().unwrap();
    finish_removals();
    assert_eq!(cleared.path, scene.folder());
    let kept = cleared.kept.unwrap();
    assert_eq!(scene.file_at(&kept, "a.txt").unwrap(), "half done\n");
    assert!(!scene.folder().exists());
    assert!(!scene.folder().parent().unwrap().exists());
    assert_eq!(list(&scene.store).unwrap(), []);
    assert_eq!(names(&scene.store.home().join("resolves")), [""; 0]);
    let delete = [
        "update-ref",
        "-d",
        "refs/pleach/keep/batch-1/task-2/resolve",
    ];
    scene.look(&delete);
    assert_eq!(scene.look(&["for-each-ref"]), refs);
    assert_eq!(scene.repo.fingerprint(), user);
    let again = scene.resolution().abort().unwrap_err();
    assert!(matches!(again, ResolveError::NotBegun { .. }), "{again}");
    assert_eq!(scene.start().begun, ResolutionStart::Now);
}

#[test]
fn a_result_that_was_taken_is_kept_once() {
    let scene = Scene::of_one_line();
    scene.start();
    scene.write("a.txt", "both\n");
    let resolved = scene.resolution().finish().unwrap();
    let cleared = scene.resolution().abort().unwrap();
    assert_eq!(cleared.kept.as_ref(), Some(&resolved.commit));
    let kept = scene.look(&["for-each-ref", "--format=%(refname)", "refs/pleach/keep"]);
    assert_eq!(kept, "refs/pleach/keep/batch-1/task-2/resolve");
}

#[test]
fn a_folder_that_somebody_deleted_is_made_again() {
    let scene = Scene::of_one_line();
    scene.start();
    fs::remove_dir_all(scene.folder()).unwrap();
    let gone = scene.resolution().finish().unwrap_err();
    assert!(matches!(gone, ResolveError::NotBegun { .. }), "{gone}");
    let again = scene.start();
    assert_eq!(again.begun, ResolutionStart::Now);
    assert!(scene.read("a.txt").starts_with("<<<<<<<"));
}

#[test]
fn a_beginning_that_was_cut_off_is_begun_anew() {
    let scene = Scene::of_one_line();
    scene.start();
    // As if it had been killed before it noted what it had laid out.
    fs::remove_dir_all(scene.store.home().join("resolves")).unwrap();
    scene.write("a.txt", "somebody looked\n");
    assert_eq!(scene.start().begun, ResolutionStart::Now);
    assert!(scene.read("a.txt").starts_with("<<<<<<<"));
    let kept = scene.look(&["show", "refs/pleach/keep/batch-1/task-2/resolve:a.txt"]);
    assert_eq!(kept, "somebody looked");
}

#[test]
fn it_is_listed_as_what_it_is() {
    let scene = Scene::of_one_line();
    scene.start();
    let listed = list(&scene.store).unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].state, TreeState::Resolving);
    assert_eq!(listed[0].path, scene.folder());
    assert_eq!(listed[0].branch.as_deref(), Some("pleach/resolve-1/2"));
}

#[test]
fn gc_takes_it_away_only_when_nobody_can_use_it_any_more() {
    use pleach_engine::gc::GarbageCollector;
    use std::time::Duration;
    let scene = Scene::of_one_line();
    scene.start();
    scene.write("a.txt", "half done\n");
    let database = Database::open(&scene.state).unwrap();
    let project = scene.stored().project;
    let broom = GarbageCollector {
        state: &scene.state,
        database: &database,
        store: &scene.store,
        project: &project,
        keep: Duration::from_hours(1),
    };
    assert_eq!(broom.look().unwrap(), []);
    assert!(broom.remove(&[]).notes.is_empty());
    assert!(scene.folder().exists());
    scene.append(&[
        Event::Batch(BatchEvent::Reopened),
        of_task("2", TaskEvent::Retried),
        of_task("2", TaskEvent::Cancelled),
        Event::Batch(BatchEvent::Merging),
        Event::Batch(BatchEvent::Completed { pr_url: None }),
    ]);
    let finds = broom.look().unwrap();
    let seen: Vec<_> = finds
        .iter()
        .map(|find| (find.what.as_str(), find.name.as_str()))
        .collect();
    assert_eq!(seen, [("worktree", "2, resolved by hand")]);
    let removed = broom.remove(&finds);
    assert_eq!(removed.notes, [""; 0]);
    assert!(!scene.folder().exists());
    let kept = scene.look(&["show", "refs/pleach/keep/batch-1/task-2/resolve:a.txt"]);
    assert_eq!(kept, "half done");
}
