//! The store and its worktrees against an agent that attacks them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use pleach_testkit::gate_or_night;

use crate::scene::Scene;

/// Nothing is open but what always is.
const CLOSED: &str = "retries = 0\nsandbox_write = []";

/// Every git folder that an agent knows of: its own, the one that worktrees share, and where objects are borrowed.
const GIT_FOLDERS: &str = "
    own=$(git rev-parse --absolute-git-dir)
    common=$(git rev-parse --path-format=absolute --git-common-dir)
    lent=$(cd $common/objects && cd \"$(head -n 1 info/alternates 2>/dev/null || echo .)\" && pwd)
    folders=\"$own $common $(dirname $lent)\"";

/// What an agent's program does, as a file that it runs.
fn script(scene: &Scene, name: &str, text: &str) -> PathBuf {
    let file = scene.repo.beside(name);
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    file
}

/// An agent that attacks with a script in all git folders that it knows.
fn attack(settings: &str, plan: &str, shell: &str) -> Scene {
    Scene::with(settings, plan, &format!("{GIT_FOLDERS}\n{shell}"))
}

#[test]
fn packed_refs_that_lead_to_the_users_repository_cost_no_branch() {
    let shell = "for g in $folders; do
            mkdir -p $g/packed
            ln -sfn BESIDE/project/.git/packed-refs $g/packed/packed-refs
            ln -sfn BESIDE/project/.git/packed-refs $g/packed-refs
        done
        echo x > x";
    let scene = attack(CLOSED, "- [ ] 1 A\n", shell);
    assert_eq!(scene.repo.path(), scene.repo.beside("project"));
    for name in ["one", "two"] {
        scene.repo.git(&["branch", name]);
        scene.repo.git(&["tag", &format!("v-{name}")]);
    }
    scene.repo.git(&["pack-refs", "--all"]);
    let refs = || {
        scene
            .repo
            .git(&["for-each-ref", "refs/heads/[!p]*", "refs/tags"])
    };
    let before = refs();
    let story = scene.story(&[]);
    assert_eq!(refs(), before, "{}", story.notes());
    story.check(0, "1:merged");
    scene.configure(CLOSED, "echo y > y");
    scene.repo.write("TODO.md", "- [ ] B\n");
    scene.story(&[]).check(0, "1:merged");
}

/// Leads git to a file of the user's when it takes the lock of packed refs, and to a list of refs when it reads them:
/// it then writes the list to that file.
const RACER: &str = r##"
import os, sys, time
home, gate, folders = sys.argv[1], sys.argv[2], sys.argv[3:]
target = os.path.join(home, ".bash_profile")
commit = os.popen("git rev-parse HEAD").read().strip()
refs = "".join(f"{commit} refs/heads/r{n}\n" for n in range(8)) + f"{commit} refs/heads/z$(id>PWNED)\n"
links = []
for folder in dict.fromkeys(folders):
    for place in (folder, os.path.join(folder, "packed")):
        try:
            os.makedirs(place, exist_ok=True)
            open(os.path.join(place, "real"), "w").write("# pack-refs with: peeled fully-peeled sorted \n" + refs)
            # Whoever wants to write to the list has to wait meanwhile.
            open(os.path.join(place, "real.lock"), "w").close()
            links.append(os.path.join(place, "packed-refs"))
        except OSError: pass
def lead_to(place):
    for link in links:
        os.symlink(place, link + ".aside")
        os.rename(link + ".aside", link)
lead_to("real")
open(gate, "w").close()
end = time.time() + 3
while time.time() < end and not os.path.exists(target):
    lead_to(target)
    lead_to("real")
"##;

#[test]
fn a_race_for_the_lock_of_packed_refs_writes_no_file_of_the_user() {
    for _ in 0..gate_or_night(1, 20) {
        let shell = "case $PLEACH_TASK in
            1) python3 BESIDE/racer.py $HOME BESIDE/open/racing $folders;;
            *) until test -e BESIDE/open/racing; do :; done;;
            esac; echo x > x-$PLEACH_TASK";
        let settings = "retries = 0\nsandbox_write = [\"BESIDE/open\"]";
        let scene = attack(settings, "- [ ] 1 A\n- [ ] 2 B\n- [ ] 3 C\n", shell);
        fs::create_dir(scene.repo.beside("open")).unwrap();
        fs::create_dir_all(scene.home()).unwrap();
        let profile = scene.home().join(".bash_profile");
        script(&scene, "racer.py", RACER);
        let story = scene.story(&["-j", "3"]);
        assert!(!profile.exists(), "{}", story.notes());
        story.check(0, "1:merged 2:merged 3:merged");
    }
}

/// Puts other bytes under the names of objects of the base, wherever they may be.
const SWAPPER: &str = r#"
import hashlib, os, sys, zlib
for path, text in (("test.sh", b"exit 0\n"), ("guide.txt", b"EVIL\n")):
    name = os.popen(f"git rev-parse HEAD:{path}").read().strip()
    for folder in sys.argv[1:]:
        file = os.path.join(folder, "objects", name[:2], name[2:])
        try:
            os.makedirs(os.path.dirname(file), exist_ok=True)
            open(file + ".aside", "wb").write(zlib.compress(b"blob %d\0" % len(text) + text))
            os.rename(file + ".aside", file)
        except OSError: pass
"#;

#[test]
fn objects_that_an_agent_swaps_reach_no_other_task_and_no_proof() {
    let shell = "python3 BESIDE/swapper.py $folders; cp guide.txt read-$PLEACH_TASK; echo x > x-$PLEACH_TASK; git add -A; git commit -qm x";
    let scene = attack(CLOSED, "- [ ] 1 A\n- [ ] 2 B (depends: 1)\n", shell);
    script(&scene, "swapper.py", SWAPPER);
    scene.repo.write("guide.txt", "be good\n");
    scene.repo.write("test.sh", "exit 1\n");
    scene.repo.commit("a guide and a test that fails");
    scene.story(&[]).check(0, "1:merged 2:merged");
    assert_eq!(scene.show("pleach/batch-1", "read-2"), "be good");
    scene.repo.write("TODO.md", "- [ ] 3 C\n");
    scene.configure(
        &format!("{CLOSED}\nvalidate = \"sh test.sh\""),
        "cp guide.txt read-3",
    );
    let story = scene.story(&[]);
    assert_eq!(story.code, 1, "the tests fail in truth: {}", story.err);
    assert_eq!(scene.show("pleach/batch-2", "read-3"), "be good");
}

#[test]
fn git_in_a_worktree_that_stays_runs_nothing_of_the_agents() {
    let traps = [
        "git config core.fsmonitor BESIDE/trap; git config core.hooksPath BESIDE",
        "rm -rf .git; git init -q .; git config core.fsmonitor BESIDE/trap",
        "mkdir trap.git; git init -q --bare trap.git; git --git-dir=trap.git config core.fsmonitor BESIDE/trap
         echo ../../../../..$PWD/trap.git > $own/commondir; printf %s $PWD/trap.git > $own/commondir",
        "git config extensions.worktreeConfig true; printf '[core]\\n\\tfsmonitor = BESIDE/trap\\n' > $own/config.worktree",
    ];
    for trap in traps {
        let scene = attack(
            CLOSED,
            "- [ ] 1 A\n",
            &format!("{trap}\necho x > x; exit 1"),
        );
        let canary = scene.repo.beside("canary");
        script(
            &scene,
            "trap",
            &format!("#!/bin/sh\ntouch {}\n", canary.display()),
        );
        scene.story(&[]).check(1, "1:failed");
        let listed = crate::pleach(scene.repo.path(), &scene.home(), &["worktrees", "--json"]);
        let path = listed.json()["worktrees"][0]["path"]
            .as_str()
            .unwrap()
            .to_owned();
        let status = scene
            .repo
            .git_in(Path::new(&path), &["status", "--porcelain"]);
        assert!(!canary.exists(), "{trap}");
        assert!(status.contains("?? x"), "{trap}: {status}");
    }
}

/// Makes a submodule that git looks into whatever the user's settings are, and a folder that is a repository by what it
/// borrows from elsewhere.
const NESTED: &str = "
    git init -q sub; cd sub; git -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m sub
    git config core.fsmonitor BESIDE/trap; echo y > y; cd ..
    printf '[submodule \"sub\"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n' > .gitmodules
    git add .gitmodules sub; git commit -qm sub
    mkdir thin; echo 'ref: refs/heads/x' > thin/HEAD; echo BESIDE/bare.git > thin/commondir
    printf '[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = BESIDE/trap\n' > thin/config.worktree
    echo x > x; exit 1";

#[test]
fn git_in_a_worktree_that_stays_runs_nothing_of_repositories_that_are_nested_in_it() {
    let scene = attack(CLOSED, "- [ ] 1 A\n", NESTED);
    let canary = scene.repo.beside("canary");
    let trap = format!("#!/bin/sh\ntouch {}\n", canary.display());
    script(&scene, "trap", &trap);
    let bare = scene.repo.beside("bare.git");
    scene
        .repo
        .git(&["init", "-q", "--bare", bare.to_str().unwrap()]);
    for (key, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.worktreeConfig", "true"),
    ] {
        scene.repo.git_in(&bare, &["config", key, value]);
    }
    scene
        .repo
        .git_in(&bare, &["config", "--unset", "core.bare"]);
    let story = scene.story(&[]);
    story.check(1, "1:failed");
    assert!(
        story.notes().contains("2 other git repositories"),
        "{}",
        story.notes()
    );
    let listed = crate::pleach(scene.repo.path(), &scene.home(), &["worktrees", "--json"]).json();
    let tree = &listed["worktrees"][0];
    assert_eq!(tree["git_safe"], true);
    let path = PathBuf::from(tree["path"].as_str().unwrap());
    for folder in ["", "sub", "thin"] {
        let status = ["status", "--porcelain"];
        let status = scene.repo.git_in(&path.join(folder), &status);
        assert!(!canary.exists(), "{folder:?}: the trap ran");
        assert!(status.contains(" x"), "{folder:?}: {status}");
    }
    // What was renamed is not taken for work when the worktree goes.
    crate::pleach(scene.repo.path(), &scene.home(), &["gc", "--yes"]);
    let list = ["for-each-ref", "--format=%(refname)", "refs/pleach/keep"];
    for name in scene.repo.git_in(&scene.store(), &list).lines() {
        let tree = ["ls-tree", "-r", "--name-only", name];
        let files = scene.repo.git_in(&scene.store(), &tree);
        assert!(!files.contains(".git.disabled"), "{files}");
    }
}

#[test]
fn rubbish_and_pipes_in_git_folders_stop_neither_siblings_nor_later_runs() {
    let damages = [
        "echo x > $g/packed-refs; echo x > $g/packed/packed-refs",
        "rm -f $g/packed-refs $g/packed/packed-refs; mkfifo $g/packed-refs $g/packed/packed-refs",
        "mkdir -p $g/refs/heads/pleach/task-1; mkfifo $g/refs/heads/pleach/task-1/9; echo x > $g/refs/heads/pleach/task-1/8",
        "rm -f $g/HEAD; mkfifo $g/HEAD",
        "id=$(git rev-parse HEAD); rm -f $g/objects/${id%${id#??}}/${id#??}; mkfifo $g/objects/${id%${id#??}}/${id#??}",
    ];
    for damage in damages {
        let shell = format!(
            "case $PLEACH_TASK in 1) git add -A; for g in $folders; do {damage}; done 2>/dev/null;; esac; echo x > x-$PLEACH_TASK"
        );
        let scene = attack(
            CLOSED,
            "- [ ] 1 A\n- [ ] 2 B\n- [ ] 3 C (depends: 1)\n",
            &shell,
        );
        scene
            .story(&["-j", "2"])
            .check(0, "1:merged 2:merged 3:merged");
        scene.repo.write("TODO.md", "- [ ] D\n");
        scene.configure(CLOSED, "echo y > y");
        scene.story(&[]).check(0, "1:merged");
        let doctor = crate::pleach(scene.repo.path(), &scene.home(), &["doctor"]);
        assert!(!doctor.out.contains("store"), "{damage}: {}", doctor.out);
    }
}

#[test]
fn folders_that_are_nested_beyond_any_path_cost_neither_the_work_nor_the_room() {
    let shell = "python3 -c 'import os
for _ in range(25): os.mkdir(\"d\" * 200); os.chdir(\"d\" * 200)
open(\"deep\", \"w\").close()'; echo x > x";
    let scene = attack(CLOSED, "- [ ] 1 A\n", shell);
    scene.story(&[]).check(0, "1:merged");
    assert_eq!(scene.new_files("pleach/batch-1"), "x");
    scene.check_no_worktree_is_left();
}
