//! Agents that try to get out, and what they can still do.

use std::fs;

use super::CLOSED;
use crate::run::Scene;

/// Everything that an agent must not be able to do; `STATE`, `STORE` and `USERS` are folders.
const REFUSED: &str = r#"
home-file             echo x > $HOME/notes
new-home-folder       mkdir $HOME/.new-tool
key-written           echo x >> $HOME/.ssh/id
key-made              echo x > $HOME/.ssh/authorized_keys
key-read              cat $HOME/.ssh/id
key-read-by-link      cat $HOME/.keys/id
login-read            cat $HOME/.netrc
shell                 echo x >> $HOME/.bashrc
autostart             mkdir -p $HOME/.config/autostart && echo x > $HOME/.config/autostart/x
programs              echo x > $HOME/.local/bin/git
config-of-git         echo x > $HOME/.config/git/config
config-of-pleach      echo x > $HOME/.config/pleach/config.toml
checkout              echo x > USERS/x
checkout-changed      echo x >> USERS/README.md
checkout-deleted      rm -f USERS/README.md
checkout-refs         echo x > USERS/.git/refs/heads/x
other-worktree        echo x > $PLEACH_WORKTREE/../task-1/x
other-worktree-read   cat $PLEACH_WORKTREE/../task-1/README.md
beside-worktree       mkdir $PLEACH_WORKTREE/../task-3
database              echo x >> STATE/pleach.db
database-read         cat STATE/pleach.db
database-deleted      rm STATE/pleach.db
token                 echo x > STATE/token
token-read            cat STATE/token
transcripts-read      cat STATE/batches/1/task-1/attempt-1/prompt.md
store-config          echo x >> STORE/config
store-hook            echo x > STORE/hooks/post-commit
store-pack            echo x > STORE/objects/pack/x
store-ref             echo x > STORE/refs/remotes/local/main
store-branch          echo x > STORE/refs/heads/pleach/task-1/1
store-packed-refs     echo x >> STORE/packed-refs
store-object          mkdir -p STORE/objects/zz || echo x > STORE/objects/zz/x
store-keep            mkdir -p STORE/refs/pleach/keep/x
store-log             echo x >> STORE/logs/refs/heads/pleach/task-1/1
store-settings        echo x >> STORE/../agent.config
by-link               ln -s $HOME/notes link && echo x > link
by-folder-link        ln -s $HOME folder && echo x > folder/notes
by-hard-link          ln $HOME/.ssh/id hard && echo x > hard
by-rename             echo x > moved && mv moved $HOME/moved
by-rename-of-folder   mkdir out && mv out $HOME/out
by-rename-over        echo x > over && mv over $HOME/.bashrc
by-exchange           mv USERS/README.md taken
by-truncation         truncate -s 0 $HOME/.bashrc
by-child              sh -c 'sh -c "echo x > $HOME/notes"'
by-proc               echo x > /proc/self/cwd/../task-1/x
batch-lock            echo x > STATE/batches/1/lock
batch-lock-read       cat STATE/batches/1/lock
system-etc            echo x > /etc/pleach-probe-$$
system-run            echo x > /run/pleach-probe-$$
other-temporary       echo x > ${TMPDIR%/*}/pleach-probe-$$
"#;

/// What it must be able to do.
const OPEN: &str = r#"
write                 mkdir -p deep/er && echo x > deep/er/file && mv deep/er/file deep/file && rm -r deep
temporary             echo x > $TMPDIR/x && mktemp && mv $TMPDIR/x moved-in && rm moved-in
cargo                 echo x > $HOME/.cargo/registry/x && mkdir $HOME/.cargo/registry/y
cache                 mkdir $HOME/.cache/new && echo x > $HOME/.cache/new/x
data                  echo x > $HOME/.local/share/opencode/x
claude                mkdir -p $HOME/.claude/projects && echo x > $HOME/.claude/projects/x
codex                 echo x > $HOME/.codex/log
config                echo x > $HOME/.config/opencode/x
devices               echo x > /dev/null && echo x > /dev/stderr && head -c 1 /dev/urandom
shared-memory         f=$(mktemp -p /dev/shm) && rm $f
read-checkout         cat USERS/README.md
read-shell            cat $HOME/.bashrc
read-git-config       git config --list
stdin                 cat /dev/stdin
prompt                grep -q B "$PROMPT"
commit                git add -A && git commit -q -m one && git commit -q --allow-empty -m two
amend                 git commit -q --amend --allow-empty -m three
reset                 git reset -q --hard HEAD~1
cherry-pick           echo x > x && git add x && git commit -q -m x && git reset -q --hard HEAD~1 && git cherry-pick ORIG_HEAD
rebase                git rebase -q --force-rebase HEAD~1
bisect                git bisect start && git bisect bad && git bisect good HEAD~1 && git bisect reset
quietly               test -z "$(git commit -q --allow-empty -m quiet 2>&1)"
own-process           sleep 10 & kill $!
"#;

/// A home folder with something of everything.
fn furnish(scene: &Scene) {
    let home = scene.home();
    for folder in [
        ".ssh",
        ".cargo/registry",
        ".cache",
        ".claude",
        ".codex",
        ".local/bin",
        ".local/share/opencode",
        ".config/opencode",
        ".config/git",
        ".config/pleach",
    ] {
        fs::create_dir_all(home.join(folder)).unwrap();
    }
    for file in [".ssh/id", ".netrc", ".bashrc"] {
        fs::write(home.join(file), "as before").unwrap();
    }
    std::os::unix::fs::symlink(".ssh", home.join(".keys")).unwrap();
    fs::create_dir_all(scene.state()).unwrap();
    fs::write(scene.state().join("token"), "as before").unwrap();
}

/// An agent that tries everything and notes what it could do.
fn script(scene: &Scene, probes: &str) -> String {
    // Beside the work, which some of the probes put back.
    let mut script = "NOTES=$(git rev-parse --git-dir)\n".to_owned();
    for probe in probes.trim().lines() {
        let (name, words) = probe.split_once(' ').unwrap();
        let words = words.trim();
        let line =
            format!("( {words} ) < /dev/null > $NOTES/said 2>&1 && echo {name} >> $NOTES/done\n");
        script.push_str(&line);
    }
    script.push_str("cp $NOTES/done done\n");
    let users = scene.repo.path().display().to_string();
    let state = scene.state().display().to_string();
    let script = script.replace("USERS", &users).replace("STATE", &state);
    script.replace(
        "STORE",
        "\"$(dirname \"$(cat \"$(git rev-parse --absolute-git-dir)/objects/info/alternates\")\")\"",
    )
}

/// The names of probes, on one line.
fn names(probes: &str) -> String {
    let names = probes
        .trim()
        .lines()
        .map(|probe| probe.split(' ').next().unwrap());
    names.collect::<Vec<_>>().join(" ")
}

/// Two tasks, one by one: the first fails and leaves its worktree, the second tries to get out of its own.
fn scene(settings: &str, probes: &str) -> Scene {
    let scene = Scene::with(settings, "", "");
    furnish(&scene);
    let shell = format!(
        "[ $PLEACH_TASK = 1 ] && exit 1\nPROMPT=$1\n{}",
        script(&scene, probes)
    );
    scene.repo.write("TODO.md", "- [ ] 1 A\n- [ ] 2 B\n");
    scene.repo.write("agent.sh", &shell);
    scene.repo.commit("a plan");
    let agent = format!(
        "sh {} {{{{prompt_file}}}}",
        scene.repo.path().join("agent.sh").display()
    );
    scene.configure(settings, &agent);
    scene
}

#[test]
fn nothing_outside_is_written_no_key_is_read_and_work_goes_on() {
    let probes = format!("{}\n{}", REFUSED.trim(), OPEN.trim());
    let scene = scene(&format!("{CLOSED}\nmode = \"serial\""), &probes);
    let story = scene.story(&[]);
    story.check(1, "1:failed 2:merged");
    let done = scene.show("pleach/batch-1", "done").replace('\n', " ");
    assert_eq!(done, names(OPEN), "{}", story.notes());
    let home = scene.home();
    for file in [".ssh/id", ".netrc", ".bashrc", ".local/state/pleach/token"] {
        assert_eq!(
            fs::read_to_string(home.join(file)).unwrap(),
            "as before",
            "{file}"
        );
    }
    for file in ["notes", "moved", "out", ".new-tool", ".config/autostart"] {
        assert!(!home.join(file).exists(), "{file}");
    }
    let readme = fs::read_to_string(scene.repo.path().join("README.md")).unwrap();
    assert_eq!(readme, "a test\n");
}

/// The probes are worth something only if they get through where nothing holds them.
#[test]
fn without_a_sandbox_the_same_probes_get_through() {
    let harmless = |probe: &&str| {
        let name = probe.split(' ').next().unwrap();
        ![
            "deleted",
            "read-",
            "database",
            "by-",
            "store-",
            "transcripts",
            "temporary",
            "refs",
            "system-",
        ]
        .iter()
        .any(|word| name.contains(word))
    };
    let probes: Vec<&str> = REFUSED.trim().lines().filter(harmless).collect();
    let probes = probes.join("\n");
    let settings = "retries = 0\nmode = \"serial\"\nsandbox = \"none\"";
    let scene = scene(settings, &probes);
    scene.story(&[]).check(1, "1:failed 2:merged");
    let done = scene.show("pleach/batch-1", "done").replace('\n', " ");
    assert_eq!(done, names(&probes));
}

#[test]
fn a_daemon_is_held_like_whoever_started_it() {
    let shell = "setsid sh -c 'echo x > $HOME/by-daemon; echo x > daemon-was-here' &
        while [ ! -e daemon-was-here ]; do sleep 0.01; done";
    let scene = Scene::with(CLOSED, super::ONE, shell);
    fs::create_dir_all(scene.home()).unwrap();
    scene.story(&[]).check(0, "1:merged");
    assert!(!scene.home().join("by-daemon").exists());
    assert_eq!(scene.new_files("pleach/batch-1"), "daemon-was-here");
}

#[test]
fn nobody_outside_can_be_signalled() {
    let shell = "kill -9 $PPID; kill -0 $PPID && touch signalled; touch lives";
    let scene = Scene::with(CLOSED, super::ONE, shell);
    scene.story(&[]).check(0, "1:merged");
    assert_eq!(scene.new_files("pleach/batch-1"), "lives");
}

#[test]
fn without_a_network_no_service_of_the_system_is_reached() {
    let folder = tempfile::Builder::new().tempdir_in("/var/tmp").unwrap();
    let socket = folder.path().join("service");
    let _service = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let shell = format!(
        "if [ -S {} ]; then touch reached; else touch hidden; fi",
        socket.display()
    );
    for (settings, expected) in [("network = \"none\"", "hidden"), ("", "reached")] {
        let scene = Scene::with(&format!("{CLOSED}\n{settings}"), super::ONE, &shell);
        scene.story(&[]).check(0, "1:merged");
        assert_eq!(scene.new_files("pleach/batch-1"), expected);
    }
}
