//! What holds agents, setup and tests: what they cannot do, what they still can, and who is told.
//!
//! All of it needs a kernel with Landlock.

mod builds;
mod probes;

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::run::Scene;

/// Nothing is open but what always is.
const CLOSED: &str = "retries = 0\nsandbox_write = []";

const ONE: &str = "- [ ] 1 A\n";

/// What a batch's first task is held by, as programs are told.
fn told(scene: &Scene) -> Value {
    let words = ["status", "1", "--json"];
    let answer = crate::pleach(scene.repo.path(), &scene.home(), &words);
    answer.json()["batches"][0]["tasks"][0]["sandbox"].clone()
}

#[test]
fn what_was_refused_is_told_with_the_key_that_opens_it() {
    let shell = "mkdir -p $HOME/made; echo x > $HOME/notes || exit 1; echo x > x";
    let scene = Scene::with(CLOSED, ONE, shell);
    let story = scene.story(&[]);
    story.check(1, "1:failed");
    let wanted = |place: &str| {
        let path = scene.home().join(place);
        let path = path.display();
        format!("the sandbox (landlock) refused to write {path}; add it to sandbox_write")
    };
    assert!(
        story.error_of("1").contains(&wanted("notes")),
        "{}",
        story.error_of("1")
    );
    assert!(story.notes().contains(&wanted("made")), "{}", story.notes());
    fs::create_dir(scene.home().join("made")).unwrap();
    let open = "retries = 0\nsandbox_write = [\"~/made\"]";
    scene.configure(open, "echo x > $HOME/made/notes && echo x > x");
    scene.story(&[]).check(0, "1:merged");
}

#[test]
fn a_refusal_that_did_no_harm_is_a_note() {
    let scene = Scene::with(CLOSED, ONE, "echo x > x; echo x > $HOME/.bashrc; true");
    let story = scene.story(&[]);
    story.check(0, "1:merged");
    assert!(
        story.notes().contains(".bashrc; add it to sandbox_write"),
        "{}",
        story.notes()
    );
    assert_eq!(told(&scene), "landlock");
}

#[test]
fn setup_and_tests_are_held_like_agents() {
    let setup = format!("{CLOSED}\nsetup = \"touch $HOME/by-setup\"");
    let scene = Scene::with(&setup, ONE, "echo x > x");
    let story = scene.story(&[]);
    story.check(1, "1:failed");
    let error = story.error_of("1");
    assert!(
        error.contains("setup (touch") && error.contains("by-setup; add it"),
        "{error}"
    );
    let tests = format!("{CLOSED}\nvalidate = \"echo x > $HOME/by-tests\"");
    scene.configure(&tests, "echo x > x");
    let story = scene.story(&[]);
    assert_eq!(story.code, 1);
    assert!(
        story.notes().contains("by-tests; add it to sandbox_write"),
        "{}",
        story.notes()
    );
    assert!(!scene.home().join("by-setup").exists() && !scene.home().join("by-tests").exists());
}

#[test]
fn a_weave_that_is_no_batch_holds_its_tests_too() {
    let scene = Scene::with(CLOSED, ONE, "true");
    scene.repo.git(&["switch", "--quiet", "--create", "one"]);
    scene.repo.write("one", "");
    scene.repo.commit("one");
    scene.repo.git(&["switch", "--quiet", "main"]);
    let tests = "touch in-worktree && ! touch $HOME/by-tests";
    let words = [
        "weave",
        "one",
        "--onto",
        "main",
        "--as",
        "both",
        "--validate",
        tests,
    ];
    crate::pleach(scene.repo.path(), &scene.home(), &words).good();
    assert!(!scene.home().join("by-tests").exists());
}

#[test]
fn temporary_files_have_a_folder_of_their_own_that_goes() {
    let shell = "touch $TMPDIR/a && mktemp && echo $TMPDIR > where-$PLEACH_TASK";
    let scene = Scene::with(CLOSED, "- [ ] 1 A\n- [ ] 2 B\n", shell);
    scene.story(&[]).check(0, "1:merged 2:merged");
    let places =
        ["where-1", "where-2"].map(|file| PathBuf::from(scene.show("pleach/batch-1", file)));
    assert_ne!(places[0], places[1]);
    for place in places {
        let name = place.file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with("pleach-"), "{name}");
        assert!(!place.exists(), "{}", place.display());
    }
}

#[test]
fn strict_leaves_the_worktree_and_temporary_files() {
    let shell = "touch $TMPDIR/a inside; : > /dev/null
        mkdir -p $HOME/.cargo && touch $HOME/.cargo/a && echo cache >> open
        git add inside && echo index >> open
        git status --short >> seen
        echo x > x";
    let scene = Scene::with(
        "retries = 0\nsandbox = \"strict\"\nsandbox_write = []",
        ONE,
        shell,
    );
    fs::create_dir_all(scene.home().join(".cargo")).unwrap();
    scene.story(&[]).check(0, "1:merged");
    assert_eq!(scene.new_files("pleach/batch-1"), "inside seen x");
    assert_eq!(told(&scene), "strict");
}

#[test]
fn a_wrapper_is_put_before_the_words_and_knows_the_worktree() {
    let settings = "retries = 0\nsetup = \"true\"\nvalidate = \"true\"\nsandbox = [\"BESIDE/wrap\", \"--in={{worktree}}\"]";
    let scene = Scene::with(settings, ONE, "echo \"$TMPDIR\" > x; touch $HOME/outside");
    let wrap = scene.repo.beside("wrap");
    let log = scene.repo.beside("wrapped");
    let script = format!(
        "#!/bin/sh\necho \"$1 $2 $3\" >> '{}'\nshift\nexec \"$@\"\n",
        log.display()
    );
    fs::write(&wrap, script).unwrap();
    let mut mode = wrap.metadata().unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o700);
    fs::set_permissions(&wrap, mode).unwrap();
    scene.story(&[]).check(0, "1:merged");
    let wrapped = scene.trace("wrapped");
    let places: Vec<&str> = wrapped.split("--in=").skip(1).collect();
    assert_eq!(places.len(), 4, "setup, agent, setup, tests: {wrapped}");
    assert!(places[1].contains("/task-1 sh -c"), "{wrapped}");
    assert!(
        places.iter().all(|place| place.starts_with('/')),
        "{wrapped}"
    );
    assert_eq!(
        scene.show("pleach/batch-1", "x"),
        "",
        "nothing else is done"
    );
    assert!(scene.home().join("outside").exists());
    assert_eq!(told(&scene), "wrapper: wrap");
}

#[test]
fn without_a_sandbox_an_agent_can_do_whatever_the_user_can() {
    let scene = Scene::with(
        "retries = 0\nsandbox = \"none\"",
        ONE,
        "echo x > $HOME/notes; touch x",
    );
    scene.story(&[]).check(0, "1:merged");
    assert!(scene.home().join("notes").exists());
    assert_eq!(told(&scene), "none");
}

#[test]
fn people_see_what_holds_a_batch_before_and_after() {
    let scene = Scene::with(CLOSED, ONE, "touch x");
    let preview = scene.run(&[]).err;
    assert!(
        preview
            .contains("landlock: agents can write only to worktrees, caches and temporary files"),
        "{preview}"
    );
    let status = crate::pleach(scene.repo.path(), &scene.home(), &["status", "1"]).good();
    assert!(status.contains("sandbox landlock"), "{status}");
}

#[test]
fn a_sandbox_that_is_not_there_is_told_before_anything_starts() {
    let scene = Scene::with("sandbox = [\"no-such-sandbox\"]", ONE, "touch x");
    for words in [&["--dry-run"][..], &[]] {
        let error = scene.run(words).bad(3);
        assert!(
            error.contains("no-such-sandbox is not installed"),
            "{error}"
        );
        assert!(error.contains("hint: install it"), "{error}");
    }
    assert_eq!(scene.branches(), "");
}
