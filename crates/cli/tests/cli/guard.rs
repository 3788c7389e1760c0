//! What agents can do to the refs they share, with the program itself as the guard.

use std::fs;
use std::path::Path;

use pleach_engine::git::{Git, Store};
use pleach_engine::worktree::{Worktree, WorktreeSpec};
use pleach_testkit::TestRepo;

use crate::run::Scene;

/// A guarded store with the worktrees of two tasks.
struct Shared {
    repo: TestRepo,
    store: Store,
    own: Worktree,
    sibling: Worktree,
}

impl Shared {
    fn new() -> Self {
        let repo = TestRepo::new();
        repo.write("shared.txt", "one\n");
        repo.commit("second");
        let stores = repo.beside("stores");
        let store = Store::open(Git::find().unwrap(), &stores, repo.path()).unwrap();
        let program = Path::new(env!("CARGO_BIN_EXE_pleach"));
        store.install_guard(program).unwrap();
        let basis = store.resolve_base(None).unwrap();
        let worktree = |task: &str| {
            let spec = WorktreeSpec {
                path: repo.beside("worktrees").join(task),
                branch: format!("pleach/task-1/{task}"),
                basis: basis.clone(),
            };
            Worktree::create(&store, &spec).unwrap()
        };
        let (own, sibling) = (worktree("1"), worktree("2"));
        let shared = Self {
            repo,
            store,
            own,
            sibling,
        };
        shared.commit_in(&shared.sibling, "theirs.txt");
        shared
    }

    fn git(&self, args: &[&str]) -> String {
        self.repo.git_in(self.own.path(), args)
    }

    fn commit_in(&self, worktree: &Worktree, file: &str) {
        fs::write(worktree.path().join(file), file).unwrap();
        self.repo.git_in(worktree.path(), &["add", "--all"]);
        let commit = ["commit", "--quiet", "-m", file];
        self.repo.git_in(worktree.path(), &commit);
    }

    /// Every ref of the store but the task's own branch.
    fn others(&self) -> Vec<String> {
        let list = ["for-each-ref", "--format=%(objectname) %(refname)"];
        let refs = self.repo.git_in(&self.store.git_dir(), &list);
        let own = format!("refs/heads/{}", self.own.branch());
        let others = refs.lines().filter(|line| !line.ends_with(&own));
        others.map(str::to_owned).collect()
    }
}

#[test]
fn what_others_rely_on_cannot_be_moved() {
    let shared = Shared::new();
    let git_dir = shared.store.git_dir();
    let git_dir = git_dir.to_str().unwrap();
    let users = shared.repo.path().to_str().unwrap();
    let elsewhere = shared.repo.beside("elsewhere");
    let elsewhere = elsewhere.to_str().unwrap();
    let sibling = shared.sibling.branch();
    let own = "refs/heads/pleach/task-1/1";
    let sibling_ref = format!("refs/heads/{sibling}");
    fs::write(shared.own.path().join("shared.txt"), "edited\n").unwrap();
    fs::write(shared.own.path().join("untracked"), "new\n").unwrap();
    shared.repo.commit("news");
    let head = shared.git(&["rev-parse", "HEAD"]);
    let before = shared.others();
    let refused: [&[&str]; 23] = [
        &["update-ref", "refs/heads/main", "HEAD"],
        &["update-ref", "refs/remotes/local/main", "HEAD~1"],
        &["update-ref", "-d", "refs/remotes/local/main"],
        &["update-ref", "-d", &sibling_ref],
        &["update-ref", &sibling_ref, "HEAD~1"],
        &["update-ref", "refs/pleach/keep/mine", "HEAD"],
        &["branch", "new"],
        &["branch", "-m", "renamed"],
        &["branch", "-m", sibling, "renamed"],
        &["update-ref", "-d", own],
        &["checkout", "-b", "new"],
        &["switch", "-c", "new"],
        &["checkout", "--orphan", "new"],
        &["symbolic-ref", "HEAD", "refs/heads/main"],
        &["tag", "v1"],
        &["tag", "--annotate", "-m", "one", "v1"],
        &["stash"],
        &["stash", "--include-untracked"],
        &["notes", "add", "-m", "a note"],
        &["worktree", "add", "-b", "new", elsewhere],
        &["fetch", users, "+HEAD:refs/remotes/local/main"],
        &[
            "--git-dir",
            git_dir,
            "update-ref",
            &sibling_ref,
            "local/main",
        ],
        &["pack-refs", "--all"],
    ];
    for words in refused {
        let told = shared.repo.git_fails(shared.own.path(), words);
        assert!(told.contains("pleach: refused"), "{words:?}: {told}");
        assert_eq!(shared.others(), before, "{words:?}");
        assert_eq!(shared.git(&["rev-parse", "HEAD"]), head, "{words:?}");
    }
    let status = shared.git(&["status", "--porcelain", "--branch"]);
    let expected = format!("## {}\n M shared.txt\n?? untracked", shared.own.branch());
    assert_eq!(status, expected, "the work stays where it is");
}

#[test]
fn ordinary_work_on_the_own_branch_goes_on() {
    let shared = Shared::new();
    let before = shared.others();
    let branch = shared.own.branch().to_owned();
    let theirs = shared
        .repo
        .git_in(shared.sibling.path(), &["rev-parse", "HEAD"]);
    shared.commit_in(&shared.own, "a.txt");
    shared.commit_in(&shared.own, "b.txt");
    let allowed: [&[&str]; 21] = [
        &["commit", "--quiet", "--amend", "-m", "b again"],
        &["rebase", "--quiet", "--force-rebase", "HEAD~2"],
        &["rebase", "--quiet", "--exec", "true", "HEAD~1"],
        &["reset", "--quiet", "--hard", "HEAD~1"],
        &["reset", "--quiet", "--hard", "ORIG_HEAD"],
        &["revert", "--no-edit", "HEAD"],
        &["cherry-pick", "--allow-empty", "HEAD~1"],
        &["merge", "--quiet", "--no-edit", &theirs],
        &["checkout", "--quiet", "--detach"],
        &["commit", "--quiet", "--allow-empty", "-m", "detached"],
        &["checkout", "--quiet", &branch],
        &["merge", "--quiet", "--no-ff", "--no-edit", "HEAD@{1}"],
        &["bisect", "start", "HEAD", "HEAD~2"],
        &["bisect", "reset"],
        &["update-ref", "refs/worktree/mine", "HEAD"],
        &["update-ref", "-d", "refs/worktree/mine"],
        &["symbolic-ref", "HEAD"],
        &["fetch", "--quiet", "."],
        &["checkout", "--quiet", "HEAD~1", "--", "shared.txt"],
        &["switch", "--quiet", "--detach", "HEAD~1"],
        &["switch", "--quiet", &branch],
    ];
    for words in allowed {
        shared.git(words);
    }
    assert_eq!(shared.git(&["branch", "--show-current"]), branch);
    assert_eq!(shared.git(&["status", "--porcelain"]), "");
    for file in ["a.txt", "b.txt", "theirs.txt"] {
        assert!(shared.own.path().join(file).exists(), "{file}");
    }
    assert_eq!(shared.others(), before);
}

#[test]
fn a_conflicted_rebase_can_be_finished_or_given_up() {
    let shared = Shared::new();
    let edit = |text: &str| {
        fs::write(shared.own.path().join("shared.txt"), text).unwrap();
        shared.git(&["commit", "--quiet", "--all", "-m", text]);
    };
    edit("two\n");
    let two = shared.git(&["rev-parse", "HEAD"]);
    shared.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    edit("three\n");
    let rebase = ["rebase", &two];
    assert!(!shared.repo.git_succeeds(shared.own.path(), &rebase));
    shared.git(&["rebase", "--abort"]);
    assert!(!shared.repo.git_succeeds(shared.own.path(), &rebase));
    fs::write(shared.own.path().join("shared.txt"), "both\n").unwrap();
    shared.git(&["add", "shared.txt"]);
    shared.git(&["-c", "core.editor=true", "rebase", "--continue"]);
    assert_eq!(shared.git(&["rev-parse", "HEAD~1"]), two);
    assert_eq!(
        shared.git(&["branch", "--show-current"]),
        shared.own.branch()
    );
}

#[test]
fn the_guard_knows_a_worktree_from_inside_its_git_folder() {
    let shared = Shared::new();
    let admin = shared.git(&["rev-parse", "--absolute-git-dir"]);
    let admin = Path::new(&admin);
    let own = ["update-ref", "refs/worktree/mine", "HEAD"];
    shared.repo.git_in(admin, &own);
    let main = ["update-ref", "refs/heads/main", "HEAD"];
    let told = shared.repo.git_fails(admin, &main);
    assert!(told.contains("a task may change its own branch"), "{told}");
}

#[test]
fn many_agents_at_once_are_no_cause_for_alarm() {
    let tasks = [1, 2, 3, 4, 5, 6].map(|n| format!("- [ ] 1.{n} A\n"));
    let scene = Scene::new(
        &tasks.concat(),
        "for n in 1 2 3; do echo $n >> f-$PLEACH_TASK; git add -A; git commit -qm $n; done",
    );
    let answer = scene.run(&["-j", "6"]);
    assert_eq!(answer.code, 0, "{}{}", answer.out, answer.err);
    assert!(!answer.out.contains("an agent"), "{}", answer.out);
}

/// A guard-rail can be stepped over; what was moved then is put back after the agent.
#[test]
fn what_an_agent_moves_past_the_guard_is_put_back_and_told() {
    let scene = Scene::new(
        "- [ ] 1.1 A\n",
        "echo x > new; git -c core.hooksPath=/dev/null tag evil; git branch -c copied; \
         git config user.name Evil",
    );
    let answer = scene.run(&[]);
    assert_eq!(answer.code, 0, "{}{}", answer.out, answer.err);
    for note in [
        "refs/tags/evil",
        "refs/heads/copied",
        "git configuration that all agents share",
    ] {
        assert!(answer.out.contains(note), "{note}: {}", answer.out);
    }
    let stores = scene.home().join(".local/state/pleach/stores");
    let home = fs::read_dir(stores)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let store = home.join("store.git");
    assert_eq!(scene.repo.git_in(&store, &["tag"]), "");
    assert_eq!(
        scene.repo.git_in(&store, &["branch", "--list", "copied"]),
        ""
    );
    let config = fs::read_to_string(store.join("config")).unwrap();
    assert!(!config.contains("Evil"), "{config}");
}
