//! A repository with a plan and an agent of shell.
//!
//! Knows what a configuration looks like, and nothing of what a test wants to prove with it.

use serde_json::json;

use crate::TestRepo;

/// A repository with a plan, and an agent that is a line of shell.
pub struct Scene {
    pub repo: TestRepo,
}

impl Scene {
    /// Failures are not retried here, so that a test that wants one has it at once.
    pub fn new(plan: &str, shell: &str) -> Self {
        Self::with("retries = 0", plan, shell)
    }

    /// The same with lines of `pleach.toml`; `BESIDE` in the shell is a folder outside the repository.
    pub fn with(settings: &str, plan: &str, shell: &str) -> Self {
        let scene = Self {
            repo: TestRepo::new(),
        };
        scene.configure(settings, shell);
        scene.repo.write("TODO.md", plan);
        scene.repo.commit("a plan");
        scene
    }

    /// The same for tasks that are written `1, 2 1, 3 1 2`, each with what it needs; nothing is marked in their
    /// plan, so that no run waits for people who may be editing it.
    pub fn of(tasks: &str, settings: &str, shell: &str) -> Self {
        let scene = Self::with(&format!("plan = \"plan.json\"\n{settings}"), "", shell);
        let tasks = tasks.split(", ").map(|task| {
            let mut words = task.split(' ');
            let id = words.next().expect("a task has an id");
            let needs: Vec<&str> = words.collect();
            json!({"id": id, "title": format!("T{id}"), "depends_on": needs})
        });
        let plan = json!({"tasks": tasks.collect::<Vec<_>>()});
        scene.repo.write("plan.json", plan.to_string());
        scene
    }

    /// The same with an execution plan: stages of tasks that need nothing, as in `a b, c!`, where `!` says one at a
    /// time.
    pub fn staged(stages: &str, settings: &str, shell: &str) -> Self {
        let scene = Self::with(&format!("plan = \"plan.json\"\n{settings}"), "", shell);
        let mut tasks = Vec::new();
        let mut batches = Vec::new();
        for (number, stage) in stages.split(", ").enumerate() {
            let ids: Vec<&str> = stage.trim_end_matches('!').split(' ').collect();
            tasks.extend(
                ids.iter()
                    .map(|id| json!({"id": id, "title": format!("T{id}")})),
            );
            batches.push(json!({
                "batch_id": number + 1,
                "task_ids": ids,
                "can_parallel": !stage.ends_with('!'),
            }));
        }
        let plan = json!({"batches": batches, "tasks": tasks});
        scene.repo.write("plan.json", plan.to_string());
        scene
    }

    /// Other settings and another agent.
    pub fn configure(&self, settings: &str, shell: &str) {
        let beside = self.repo.beside("");
        let beside = beside
            .to_str()
            .expect("temporary folders have plain names")
            .trim_end_matches('/');
        let shell = shell.replace("BESIDE", beside);
        let words = serde_json::to_string(&["sh", "-c", &shell]).expect("words are JSON");
        let settings = settings.replace("BESIDE", beside);
        // Most agents of tests leave their traces there; those that test the sandbox say so themselves.
        let open = if settings.contains("sandbox") {
            String::new()
        } else {
            format!("sandbox_write = [\"{beside}\"]\n")
        };
        // Most agents of tests that change nothing mean to have done their task.
        let idle = if settings.contains("no_changes") {
            ""
        } else {
            "no_changes = \"done\"\n"
        };
        let time = if settings.contains("task_timeout") {
            ""
        } else {
            "task_timeout = \"60s\"\n"
        };
        let config = format!("{open}{idle}{time}{settings}\n[agents.shell]\ncommand = {words}\n");
        self.repo.write("pleach.toml", config);
    }

    pub fn plan(&self) -> String {
        std::fs::read_to_string(self.repo.path().join("TODO.md")).expect("the scene has a plan")
    }

    pub fn show(&self, branch: &str, file: &str) -> String {
        self.repo.git(&["show", &format!("{branch}:{file}")])
    }

    /// The files of a branch that `main` does not have.
    pub fn new_files(&self, branch: &str) -> String {
        let words = ["diff", "--name-only", "--diff-filter=A", "main", branch];
        self.repo.git(&words).replace('\n', " ")
    }

    pub fn branches(&self) -> String {
        let words = ["branch", "--list", "pleach/*", "--format=%(refname:short)"];
        self.repo.git(&words).replace('\n', " ")
    }

    /// What agents wrote to a file beside the repository, on one line.
    pub fn trace(&self, name: &str) -> String {
        let text = std::fs::read_to_string(self.repo.beside(name)).unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Checks that nothing of an agent is alive: processes are known by their folder.
    #[track_caller]
    pub fn check_nobody_is_left(&self) {
        let beside = self.repo.beside("");
        let all = std::fs::read_dir("/proc").expect("Linux has it").flatten();
        let left: Vec<String> = all
            .filter(|entry| {
                let cwd = std::fs::read_link(entry.path().join("cwd"));
                cwd.is_ok_and(|cwd| cwd.starts_with(&beside))
            })
            .map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default())
            .collect();
        assert!(left.is_empty(), "{left:?} live");
    }
}
