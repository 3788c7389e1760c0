//! What is kept of a folder that is no repository, and how it comes back.

use std::fs;
use std::os::unix::fs::symlink;

use super::{WRITE, ask, plain, write};
use crate::scene::Scene;

/// The files in the state that the batch of a folder began with.
fn captured(scene: &Scene) -> String {
    let git = |words: &[&str]| {
        let output = std::process::Command::new("git")
            .arg("--git-dir")
            .arg(scene.store())
            .args(words)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let base = git(&["for-each-ref", "--format=%(objectname)", "refs/pleach/base"]);
    let base = base.lines().next().unwrap().to_owned();
    git(&["ls-tree", "-r", "--name-only", &base]).replace('\n', " ")
}

#[test]
fn status_logs_and_diff_work_as_in_a_repository() {
    let scene = plain("retries = 0", "- [ ] A\n", &format!("echo hello; {WRITE}"));
    scene.story(&["--mode", "queue"]).check(0, "1:merged");
    let status = ask(&scene, &["status", "--json", "--all"]);
    let batch = status.json()["batches"][0].clone();
    assert_eq!(
        (&batch["status"], &batch["id"]),
        (&"completed".into(), &1.into())
    );
    let path = scene.repo.path().display().to_string();
    assert_eq!(batch["tasks"][0]["worktreePath"], path);
    assert!(ask(&scene, &["logs", "1", "1"]).good().contains("hello"));
    assert!(
        ask(&scene, &["diff", "1", "1"])
            .good()
            .contains("+++ b/file-1")
    );
    assert!(ask(&scene, &["progress"]).good().contains("1/1"));
}

#[test]
fn what_an_attempt_left_comes_back_as_a_new_folder() {
    let shell = "echo half > half; chmod +x half; printf 'a\\r\\n' > crlf; ln -s half link; exit 1";
    let scene = plain("retries = 0", "- [ ] A\n", shell);
    write(&scene, "before.txt", "before\n");
    scene.story(&["--mode", "queue"]).check(1, "1:failed");
    for file in ["half", "crlf", "link", "before.txt"] {
        fs::remove_file(scene.repo.path().join(file)).unwrap();
    }
    let listed = ask(&scene, &["recover"]).good();
    assert!(listed.contains("attempt 1"), "{listed}");
    let told = ask(&scene, &["recover", "1", "1", "--json"]).json();
    let folder = std::path::PathBuf::from(told["recovered"][0]["folder"].as_str().unwrap());
    assert!(folder.starts_with(scene.state()), "{}", folder.display());
    assert_eq!(fs::read_to_string(folder.join("half")).unwrap(), "half\n");
    assert_eq!(fs::read_to_string(folder.join("crlf")).unwrap(), "a\r\n");
    assert_eq!(
        fs::read_link(folder.join("link")).unwrap().as_os_str(),
        "half"
    );
    assert_eq!(
        fs::read_to_string(folder.join("before.txt")).unwrap(),
        "before\n"
    );
    assert!(!folder.join(".git").exists());
    // Another time, another folder: nothing is replaced.
    let again = ask(&scene, &["recover", "1", "1", "--json"]).json();
    assert_ne!(
        again["recovered"][0]["folder"],
        told["recovered"][0]["folder"]
    );
}

#[test]
fn it_comes_back_even_if_the_folder_is_gone() {
    let scene = plain("retries = 0", "- [ ] A\n", "echo half > half; exit 1");
    scene.story(&["--mode", "queue"]).check(1, "1:failed");
    fs::remove_dir_all(scene.repo.path()).unwrap();
    let elsewhere = scene.repo.beside("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let words = ["recover", "1", "1", "--json"];
    let told = crate::pleach(&elsewhere, &scene.home(), &words).json();
    let folder = told["recovered"][0]["folder"].as_str().unwrap();
    assert!(std::path::Path::new(folder).join("half").exists());
}

#[test]
fn dependencies_and_caches_are_not_copied() {
    let scene = plain(
        "retries = 0",
        "- [ ] A\n",
        "mkdir -p node_modules/x; echo x > node_modules/x/y",
    );
    for name in [
        "node_modules/a/index.js",
        "app/__pycache__/m.pyc",
        ".venv/bin/python",
        "target/debug/x",
        "Cargo.toml",
        "dist/written-by-hand.txt",
        "src/main.rs",
    ] {
        write(&scene, name, "x\n");
    }
    scene.story(&["--mode", "queue"]).check(0, "1:no_changes");
    let captured = captured(&scene);
    assert_eq!(
        captured,
        "Cargo.toml README.md dist/written-by-hand.txt pleach.toml src/main.rs "
    );
}

#[test]
fn what_the_folder_says_about_ignored_files_counts() {
    let scene = plain(
        "retries = 0",
        "- [ ] A\n",
        "echo x > secret.txt; echo x > sub/a.log",
    );
    write(&scene, ".gitignore", "secret.txt\n");
    write(&scene, "sub/.gitignore", "*.log\n");
    write(&scene, "node_modules/a.js", "x\n");
    scene.story(&["--mode", "queue"]).check(0, "1:no_changes");
    assert_eq!(
        captured(&scene),
        ".gitignore README.md node_modules/a.js pleach.toml sub/.gitignore "
    );
}

#[test]
fn links_are_kept_as_links_and_never_followed() {
    let scene = plain("retries = 0", "- [ ] A\n", "echo x > made");
    let outside = scene.repo.beside("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("theirs.txt"), "theirs\n").unwrap();
    symlink(&outside, scene.repo.path().join("away")).unwrap();
    symlink("nowhere", scene.repo.path().join("dangling")).unwrap();
    symlink(".", scene.repo.path().join("round")).unwrap();
    scene.story(&["--mode", "queue"]).check(0, "1:merged");
    assert_eq!(
        captured(&scene),
        "README.md away dangling pleach.toml round "
    );
}

#[test]
fn a_huge_file_is_told_and_not_copied() {
    let scene = plain(
        "retries = 0",
        "- [ ] A\n- [ ] B\n",
        "echo x > made-$PLEACH_TASK",
    );
    let huge = fs::File::create(scene.repo.path().join("huge.bin")).unwrap();
    huge.set_len((100 << 20) + 1).unwrap();
    let story = scene.story(&["--mode", "serial"]);
    story.check(0, "1:merged 2:merged");
    let notes = story.notes();
    assert_eq!(notes.matches("huge.bin").count(), 1, "{notes}");
    assert_eq!(captured(&scene), "README.md pleach.toml ");
}

#[test]
fn repositories_within_are_left_alone() {
    let scene = plain("retries = 0", "- [ ] A\n", "echo y > inner/file");
    write(&scene, "inner/file", "x\n");
    write(&scene, "inner/.git/HEAD", "ref: refs/heads/main\n");
    scene.story(&["--mode", "queue"]).check(0, "1:merged");
    let told = ask(&scene, &["diff", "1", "1"]).good();
    assert!(told.contains("inner/file"), "{told}");
    let head = fs::read_to_string(scene.repo.path().join("inner/.git/HEAD"));
    assert_eq!(head.unwrap(), "ref: refs/heads/main\n");
}

#[test]
fn a_folder_that_agents_make_a_repository_of_goes_on_in_place() {
    let shell = "test -e .git || git init -q .; echo $PLEACH_TASK > f$PLEACH_TASK";
    let scene = plain("retries = 0", "- [ ] A\n- [ ] B\n", shell);
    scene
        .story(&["--mode", "serial"])
        .check(0, "1:merged 2:merged");
    let told = ask(&scene, &["diff", "1", "2"]).good();
    assert!(
        told.contains("+++ b/f2") && !told.contains(".git"),
        "{told}"
    );
}

#[test]
fn gc_clears_up_without_touching_the_folder() {
    let scene = plain("retries = 0", "- [ ] A\n", "echo half > half; exit 1");
    scene.story(&["--mode", "queue"]).check(1, "1:failed");
    let before = super::listing(scene.repo.path());
    ask(&scene, &["gc", "--yes", "--keep", "1ms"]).good();
    assert_eq!(super::listing(scene.repo.path()), before);
    ask(&scene, &["worktrees"]).good();
}
