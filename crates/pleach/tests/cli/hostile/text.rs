//! Text and odd files that deceive whoever reads them.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use pleach_testkit::Terminal;
use serde_json::json;

use crate::scene::{Scene, make_pipe};
use crate::{Answer, command};

/// A call that is ended when it takes too long or too much memory.
fn bounded(scene: &Scene, words: &[&str]) -> Answer {
    let home = scene.home();
    let inner = command(scene.repo.path(), &home, words);
    let mut outer = Command::new("sh");
    outer
        .arg("-c")
        .arg("ulimit -v 4000000; exec timeout 20 \"$0\" \"$@\"")
        .arg(inner.get_program())
        .args(inner.get_args())
        .current_dir(scene.repo.path())
        .env_clear();
    for (name, value) in inner.get_envs() {
        outer.env(name, value.unwrap());
    }
    outer.output().unwrap().into()
}

/// Puts a pipe, an endless device or a folder in the place of a file.
fn spoil(path: &Path, kind: &str) {
    let _ = std::fs::remove_file(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    match kind {
        "pipe" => make_pipe(path),
        kind => symlink(kind, path).unwrap(),
    }
}

#[test]
fn a_pipe_or_a_device_in_the_place_of_a_configuration_stops_no_command() {
    for kind in ["pipe", "/dev/zero", "/dev/tty", ".."] {
        let scene = Scene::of("1", "", "echo x > made");
        spoil(&scene.repo.path().join("pleach.toml"), kind);
        for words in [&["plan"][..], &["run", "--yes"], &["config"], &["init"]] {
            let answer = bounded(&scene, words);
            assert!(
                answer.code == 2 || answer.code == 3,
                "{kind} {words:?}: {} {}{}",
                answer.code,
                answer.out,
                answer.err
            );
            assert!(answer.err.contains("pleach.toml"), "{}", answer.err);
        }
        let doctor = bounded(&scene, &["doctor"]);
        assert_eq!(doctor.code, 3, "{kind}: {}{}", doctor.out, doctor.err);
        // The same repository works again once the file is one.
        std::fs::remove_file(scene.repo.path().join("pleach.toml")).unwrap();
        scene.configure("plan = \"plan.json\"", "echo x > made");
        scene.run(&[]).good();
    }
}

#[test]
fn a_pipe_or_a_device_in_the_place_of_other_files_that_are_read_stops_no_command() {
    for kind in ["pipe", "/dev/zero"] {
        let scene = Scene::new("# Plan\n\n- [ ] **1** one\n", "echo x > made");
        for name in [
            ".claude/current-plan.txt",
            "Makefile",
            "package.json",
            "justfile",
            "pyproject.toml",
            "Cargo.toml",
        ] {
            spoil(&scene.repo.path().join(name), kind);
        }
        for words in [&["plan"][..], &["doctor"], &["init", "--dry-run"]] {
            let answer = bounded(&scene, words);
            let ended = (0..=3).contains(&answer.code);
            assert!(ended, "{kind} {words:?}: {}{}", answer.code, answer.err);
        }
        let run = bounded(&scene, &["run", "--yes"]);
        assert_eq!(run.code, 2, "{kind}: {}", run.err);
        assert!(run.err.contains("current-plan.txt"), "{}", run.err);
        std::fs::remove_file(scene.repo.path().join(".claude/current-plan.txt")).unwrap();
        spoil(&scene.repo.path().join("prompt.md"), kind);
        scene.configure("prompt = \"prompt.md\"", "echo x > made");
        let run = bounded(&scene, &["run", "--yes"]);
        assert_eq!(run.code, 2, "{kind}: {}", run.err);
        assert!(run.err.contains("prompt.md"), "{}", run.err);
        // With the other files as they are, it works all the same.
        scene.configure("", "echo x > made");
        let run = bounded(&scene, &["run", "--yes"]);
        assert_eq!(run.code, 0, "{kind}: {}{}", run.out, run.err);
    }
}

#[test]
fn commands_to_copy_are_quoted_for_the_shell() {
    let scene = Scene::new("", "exit 1");
    let id = "a;touch /tmp/x";
    let plan = json!({"tasks": [{"id": id, "title": "T"}]});
    scene.repo.write("plan.json", plan.to_string());
    scene.configure("plan = \"plan.json\"\nretries = 0", "exit 1");
    let failed = scene.run(&[]);
    assert_eq!(failed.code, 1, "{}", failed.err);
    assert!(
        failed.out.contains("pleach logs 1 'a;touch /tmp/x'\n"),
        "{}",
        failed.out
    );
}

#[test]
fn an_address_whose_host_begins_with_a_dash_is_refused() {
    for address in [
        "ssh://-oProxyCommand=touch%20x/repo",
        "-oProxyCommand=touch x:repo",
        "ssh://git@-oProxyCommand=x/repo",
        "https://-x.example/repo",
    ] {
        let scene = Scene::of("1", "land = \"none\"", "echo x > made");
        scene.repo.git(&["config", "remote.origin.url", address]);
        let answer = scene.run(&["--fetch"]);
        assert_ne!(answer.code, 0, "{address}");
        assert!(!answer.err.contains("ssh -o"), "{address}: {}", answer.err);
        assert!(
            answer.err.contains("begins with a dash"),
            "{address}: {}",
            answer.err
        );
        // What needs no server goes on.
        scene.run(&[]).good();
    }
}

fn open_to_others(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            found.push(format!("{mode:o} {}", entry.path().display()));
        }
    }
    found
}

#[test]
fn what_pleach_makes_is_closed_to_others_in_folders_that_are_open_to_them() {
    let shell =
        "umask > BESIDE/umask; echo x > made; stat -c %a made > BESIDE/made; [ $PLEACH_TASK = 1 ]";
    let settings = "worktrees = \"BESIDE/trees\"\nsandbox_write = [\"BESIDE\"]\nretries = 0";
    let scene = Scene::of("1, 2", settings, shell);
    let (state, trees) = (scene.repo.beside("state"), scene.repo.beside("trees"));
    for folder in [&state, &trees] {
        std::fs::create_dir(folder).unwrap();
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o777)).unwrap();
    }
    let inner = command(scene.repo.path(), &scene.home(), &[]);
    let mut run = Command::new("sh");
    run.arg("-c")
        .arg("umask 000; exec \"$0\" run --yes")
        .arg(inner.get_program())
        .current_dir(scene.repo.path())
        .env_clear()
        .env("PLEACH_HOME", &state);
    for (name, value) in inner.get_envs() {
        run.env(name, value.unwrap());
    }
    let answer: Answer = run.output().unwrap().into();
    assert_eq!(answer.code, 1, "{}{}", answer.out, answer.err);
    // The folder of the task that failed is kept, below one of Pleach's own.
    assert_eq!(std::fs::read_dir(&trees).unwrap().count(), 1);
    let open = [open_to_others(&state), open_to_others(&trees)].concat();
    assert!(open.is_empty(), "{}", open.join("\n"));
    // Agents keep the user's own mask, and so does the user's repository.
    assert_eq!(scene.trace("umask"), "0000");
    assert_eq!(scene.trace("made"), "666");
    let branches = scene.repo.path().join(".git/refs/heads/pleach");
    let mode = branches.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o777, "{mode:o}");
}

#[test]
fn names_that_agents_chose_do_nothing_to_the_terminal_of_whoever_approves() {
    let shell = "if [ $PLEACH_TASK = a ]; then mkdir .claude; echo x > \".claude/$(printf 'x\\033]0;owned\\007\\342\\200\\256.json')\"; else echo x > made; fi";
    let scene = Scene::of("a, b a", "", shell);
    let mut running = scene.start(&[]);
    running.wait_for("batch:task:waiting");
    let words = ["approve", "1", "--yes"];
    let mut command = command(scene.repo.path(), &scene.home(), &words);
    command.env("TERM", "xterm-256color");
    let mut terminal = Terminal::spawn(&command, 160, 50);
    assert_eq!(terminal.end(), 0, "{}", terminal.transcript());
    let said = terminal.transcript();
    assert!(said.contains("⟨U+202E⟩.json"), "{said:?}");
    assert!(
        !said.contains("\u{1b}]0;") && !said.contains('\u{7}'),
        "{said:?}"
    );
    running.story().check(0, "a:merged b:merged");
}

#[test]
fn hidden_characters_are_shown_as_such_in_titles_names_transcripts_and_diffs() {
    let shell = "printf 'said \\342\\200\\256evil\\n'; printf 'let x = \\342\\201\\246y\\342\\200\\213;\\nfamily \\360\\237\\221\\250\\342\\200\\215\\360\\237\\221\\251 \\327\\251\\327\\234\\n' > \"$(printf 'a\\342\\200\\213b.rs')\"; exit 0";
    let scene = Scene::new("", shell);
    let plan = json!({"tasks": [{"id": "1", "title": "pay \u{202e}live\u{e0041}"}]});
    scene.repo.write("plan.json", plan.to_string());
    scene.configure("plan = \"plan.json\"\nretries = 0", shell);
    let run = scene.run(&[]).good();
    assert!(run.contains("pay ⟨U+202E⟩live⟨U+E0041⟩"), "{run}");
    let on_terminal = |words: &[&str]| {
        let mut command = command(scene.repo.path(), &scene.home(), words);
        command.env("TERM", "xterm-256color").env("PAGER", "cat");
        let mut terminal = Terminal::spawn(&command, 160, 50);
        assert_eq!(terminal.end(), 0, "{}", terminal.transcript());
        terminal.transcript()
    };
    let status = on_terminal(&["status", "1"]);
    assert!(status.contains("pay ⟨U+202E⟩live"), "{status}");
    let logs = on_terminal(&["logs", "1", "1"]);
    assert!(logs.contains("said ⟨U+202E⟩evil"), "{logs}");
    let diff = on_terminal(&["diff", "1"]);
    for text in [
        "⟨U+2066⟩y⟨U+200B⟩;",
        "a\\342\\200\\213b.rs",
        "👨\u{200d}👩",
        "\u{5e9}\u{5dc}",
    ] {
        assert!(diff.contains(text), "{text}: {diff}");
    }
    // A patch in a pipe is as git gave it, so that it applies.
    let words = ["diff", "1"];
    let patch = crate::pleach(scene.repo.path(), &scene.home(), &words).good();
    assert!(patch.contains("let x = \u{2066}y\u{200b};"), "{patch}");
}
