//! Each agent has a git folder of its own: what it can do there, and what comes of it.

use std::fs;

use pleach_git::git::{Git, Store};
use pleach_git::worktree::{Worktree, WorktreeSpec};
use pleach_testkit::TestRepo;

use crate::run::Scene;

/// A store with the worktrees of two tasks.
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

    /// Every ref of the store.
    fn others(&self) -> String {
        let list = ["for-each-ref", "--format=%(objectname) %(refname)"];
        self.repo.git_in(&self.store.git_dir(), &list)
    }
}

#[test]
fn whatever_an_agent_does_with_refs_the_store_and_others_do_not_see() {
    let shared = Shared::new();
    let users = shared.repo.path().to_str().unwrap();
    let elsewhere = shared.repo.beside("elsewhere");
    let elsewhere = elsewhere.to_str().unwrap();
    shared.repo.commit("news");
    let before = shared.others();
    let deeds: [&[&str]; 17] = [
        &["update-ref", "refs/heads/main", "HEAD"],
        &["update-ref", "refs/remotes/local/main", "HEAD~1"],
        &["update-ref", "-d", "refs/remotes/local/main"],
        &["update-ref", "refs/pleach/keep/mine", "HEAD"],
        &["branch", "new"],
        &["tag", "v1"],
        &["tag", "--annotate", "-m", "one", "v2"],
        &["notes", "add", "-m", "a note"],
        &["worktree", "add", "-b", "newer", elsewhere],
        &["fetch", users, "+HEAD:refs/remotes/local/main"],
        &["pack-refs", "--all"],
        &["switch", "-c", "newest"],
        &["branch", "-m", "renamed"],
        &["gc", "--quiet"],
        &["checkout", "--orphan", "bare"],
        &["config", "user.name", "Evil"],
        &["symbolic-ref", "HEAD", "refs/heads/main"],
    ];
    for words in deeds {
        shared.repo.git_succeeds(shared.own.path(), words);
        assert_eq!(shared.others(), before, "{words:?}");
    }
    let name = ["config", "--local", "user.name"];
    assert!(!shared.repo.git_succeeds(shared.sibling.path(), &name));
    let log = ["log", "-1", "--format=%s"];
    assert_eq!(
        shared.repo.git_in(shared.sibling.path(), &log),
        "theirs.txt"
    );
}

/// Commits on other branches and in the stash are no part of a task's result, and are kept.
#[test]
fn what_an_agent_leaves_on_other_branches_and_in_the_stash_is_kept() {
    let shell = "echo aside > aside; git add aside; git stash -q
        git switch -qc feature; echo feature > feature; git add feature; git commit -qm feature
        git switch -q -; echo x > x";
    let scene = Scene::new("- [ ] 1.1 A\n", shell);
    scene.story(&[]).check(0, "1.1:merged");
    assert_eq!(scene.new_files("pleach/batch-1"), "x");
    let list = ["for-each-ref", "--format=%(refname)", "refs/pleach/keep"];
    let kept = scene.repo.git_in(&scene.store(), &list);
    let holds = |file: &str| {
        let mut kept = kept.lines();
        kept.any(|name| {
            let object = format!("{name}:{file}");
            scene
                .repo
                .git_succeeds(&scene.store(), &["cat-file", "-e", &object])
        })
    };
    assert!(holds("aside") && holds("feature") && holds("x"), "{kept}");
}

/// The files count, whatever became of the commits.
#[test]
fn commits_that_are_damaged_do_not_cost_the_work() {
    let shell = "echo x > x; git add x; git commit -qm x; echo y > y; git add y; git commit -qm y
        id=$(git rev-parse HEAD~1); file=$(git rev-parse --absolute-git-dir)/objects/${id%${id#??}}/${id#??}
        chmod u+w $file; echo rubbish > $file";
    let scene = Scene::new("- [ ] 1.1 A\n", shell);
    let story = scene.story(&[]);
    story.check(0, "1.1:merged");
    assert!(
        story.notes().contains("commits are damaged"),
        "{}",
        story.notes()
    );
    assert_eq!(scene.new_files("pleach/batch-1"), "x y");
}

/// Refs that agents are lent do not count as theirs, however many there are.
#[test]
fn commits_of_agents_are_found_beside_thousands_of_the_users_branches() {
    let shell = "echo x > x; git add x; git commit -qm 'by the agent'";
    let scene = Scene::new("- [ ] 1.1 A\n", shell);
    let head = scene.repo.head();
    let refs: String = (0..1100)
        .flat_map(|number| [head.clone(), format!(" refs/heads/b{number:04}\n")])
        .collect();
    let packed = scene.repo.path().join(".git/packed-refs");
    fs::write(packed, format!("# pack-refs with: sorted \n{refs}")).unwrap();
    scene.story(&[]).check(0, "1.1:merged");
    let log = scene.repo.git(&["log", "--format=%s", "pleach/batch-1"]);
    assert!(log.contains("by the agent"), "{log}");
}

/// One commit that cannot be read costs neither the others nor the agent's own copy of it.
#[test]
fn a_damaged_branch_costs_no_other_and_the_git_folder_is_kept_aside() {
    for work in ["echo x > x; git add x; git commit -qm x", "true"] {
        let shell = format!(
            "echo aside > aside; git add aside; git stash -q
            for name in good bad; do
                git switch -qc $name; echo $name > $name; git add $name; git commit -qm $name; git switch -q -
            done
            id=$(git rev-parse bad); file=$(git rev-parse --absolute-git-dir)/objects/${{id%${{id#??}}}}/${{id#??}}
            chmod u+w $file; echo rubbish > $file; {work}"
        );
        let scene = Scene::new("- [ ] 1.1 A\n", &shell);
        let story = scene.story(&[]);
        assert_eq!(story.code, 0, "{}", story.err);
        let notes = story.notes();
        assert!(!notes.contains("left out"), "{notes}");
        let list = ["for-each-ref", "--format=%(refname)", "refs/pleach/keep"];
        let kept = scene.repo.git_in(&scene.store(), &list);
        for file in ["aside", "good"] {
            let holds = |name: &str| {
                let object = format!("{name}:{file}");
                let ask = ["cat-file", "-e", &object];
                scene.repo.git_succeeds(&scene.store(), &ask)
            };
            assert!(kept.lines().any(holds), "{file}: {kept}");
        }
        let home = scene.store().parent().unwrap().to_owned();
        let aside = || {
            let entries = fs::read_dir(&home).unwrap().flatten();
            let mut entries = entries.map(|entry| entry.file_name().into_string().unwrap());
            entries.find(|name| name.starts_with("damaged-"))
        };
        let folder = home.join(aside().expect("it is kept"));
        assert!(notes.contains(folder.to_str().unwrap()), "{notes}");
        let inside = fs::read_dir(&folder).unwrap().flatten().next().unwrap();
        assert!(inside.path().join("refs/heads/bad").is_file());
        let gc = |keep: &str| {
            let words = ["gc", "--yes", "--keep", keep];
            assert_eq!(
                crate::pleach(scene.repo.path(), &scene.home(), &words).code,
                0
            );
        };
        gc("1d");
        assert!(folder.is_dir());
        gc("1ms");
        assert_eq!(aside(), None);
    }
}

#[test]
fn ordinary_work_on_the_own_branch_goes_on() {
    let shared = Shared::new();
    let before = shared.others();
    let branch = shared.own.branch().to_owned();
    shared.commit_in(&shared.own, "a.txt");
    shared.commit_in(&shared.own, "b.txt");
    let allowed: [&[&str]; 20] = [
        &["commit", "--quiet", "--amend", "-m", "b again"],
        &["rebase", "--quiet", "--force-rebase", "HEAD~2"],
        &["rebase", "--quiet", "--exec", "true", "HEAD~1"],
        &["reset", "--quiet", "--hard", "HEAD~1"],
        &["reset", "--quiet", "--hard", "ORIG_HEAD"],
        &["revert", "--no-edit", "HEAD"],
        &["cherry-pick", "--allow-empty", "HEAD~1"],
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
    for file in ["a.txt", "b.txt"] {
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

#[test]
fn a_repository_that_an_agent_makes_is_taken_in_without_its_commits_and_told() {
    let shell = "git init -q lib && cd lib && echo x > a && git add a && git commit -qm inner";
    let scene = crate::scene::Scene::of("1", "", shell);
    let story = scene.story(&[]);
    story.check(0, "1:merged");
    assert_eq!(scene.show("pleach/batch-1", "lib/a"), "x");
    let told = story
        .notes()
        .matches("lib is a separate git repository")
        .count();
    assert_eq!(told, 1, "{}", story.notes());
}
