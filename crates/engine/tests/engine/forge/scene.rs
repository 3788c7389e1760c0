//! A project on a stand-in forge, with a commit that is to land.

use std::fs;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use pleach_domain::choice::ForgeKind;
use pleach_engine::forge::{
    Forge, ForgeError, ForgeProject, PullRequest, PullRequestDraft, connect_within,
    open_pull_request,
};
use pleach_git::git::{CommitId, Git, Login, Logins, Pauses, PushError, Pushed, Store, answer_git};
use pleach_system::text::causes::with_causes;
use pleach_testkit::{ForgeServer, ForgeStyle, TestRepo};

pub(crate) const TOKEN: &str = "t0ken-0123456789abcdef";
pub(crate) const PROJECT: &str = "acme/site";
pub(crate) const HEAD: &str = "pleach/batch-1";
pub(crate) const ALL: [ForgeStyle; 3] = [ForgeStyle::GitHub, ForgeStyle::GitLab, ForgeStyle::Gitea];

/// The variable that says what git wants from its helper.
const OPERATION: &str = "PLEACH_TEST_OPERATION";

/// A project whose `origin` is on a forge.
pub(crate) struct Scene {
    pub(crate) repo: TestRepo,
    pub(crate) forge: ForgeServer,
    pub(crate) style: ForgeStyle,
    pub(crate) store: Store,
    /// The commit that is to land.
    pub(crate) commit: CommitId,
}

impl Scene {
    pub(crate) fn new(style: ForgeStyle) -> Self {
        let repo = TestRepo::new();
        let forge = ForgeServer::start(style, TOKEN);
        forge.add(PROJECT, &repo);
        repo.git(&["remote", "add", "origin", &forge.url(PROJECT)]);
        repo.branch("work");
        repo.write("new", "work\n");
        let commit = repo.commit("work").parse().unwrap();
        repo.git(&["switch", "--quiet", "main"]);
        let stores = repo.beside("stores");
        let store = Store::open(Git::find().unwrap(), &stores, repo.path()).unwrap();
        Self {
            repo,
            forge,
            style,
            store,
            commit,
        }
    }

    /// One whose commit is pushed already.
    pub(crate) fn pushed(style: ForgeStyle) -> Self {
        let scene = Self::new(style);
        let from = scene.repo.path().to_str().unwrap().to_owned();
        let refspec = format!("{}:refs/heads/{HEAD}", scene.commit);
        scene.on_server(&["fetch", "--quiet", &from, &refspec]);
        scene
    }

    /// Git on the server.
    #[track_caller]
    pub(crate) fn on_server(&self, args: &[&str]) -> String {
        let folder = self.forge.repository(PROJECT);
        self.repo.git_in(&folder, args)
    }

    pub(crate) fn server_branch(&self, branch: &str) -> Option<String> {
        let name = format!("refs/heads/{branch}");
        let list = ["for-each-ref", "--format=%(objectname)", &name];
        Some(self.on_server(&list)).filter(|id| !id.is_empty())
    }

    pub(crate) fn kind(&self) -> ForgeKind {
        match self.style {
            ForgeStyle::GitHub => ForgeKind::GitHub,
            ForgeStyle::GitLab => ForgeKind::GitLab,
            ForgeStyle::Gitea => ForgeKind::Gitea,
        }
    }

    pub(crate) fn project(&self) -> ForgeProject {
        ForgeProject::recognise(&self.store, Some(self.kind()))
            .unwrap()
            .unwrap()
    }

    /// Logins that know a token, and a helper that hands it to git.
    pub(crate) fn logins(&self, token: Option<&str>) -> Logins {
        // Whatever server the repository says it is from.
        let origin = self.repo.git(&["remote", "get-url", "origin"]);
        let host = origin
            .split_once("https://")
            .and_then(|(_, rest)| rest.split('/').next())
            .map_or_else(|| self.forge.host(), str::to_owned);
        let variables = token.map(|token| {
            [
                ("PLEACH_GIT_TOKEN".to_owned(), token.to_owned()),
                ("PLEACH_GIT_HOST".to_owned(), host),
            ]
        });
        Logins::new(&self.helper(), variables.into_iter().flatten())
    }

    pub(crate) fn login(&self, token: &str) -> Option<Login> {
        let logins = self.logins(Some(token));
        self.project().login(&self.store, &logins).unwrap()
    }

    pub(crate) fn connect(&self) -> Box<dyn Forge> {
        self.connect_within(Duration::from_secs(20))
    }

    pub(crate) fn connect_within(&self, answer_within: Duration) -> Box<dyn Forge> {
        connect_within(&self.project(), self.login(TOKEN), answer_within).unwrap()
    }

    pub(crate) fn open(&self) -> Result<PullRequest, ForgeError> {
        open_pull_request(&*self.connect(), &draft("text"), &pauses())
    }

    pub(crate) fn push(&self, expected: Option<&CommitId>) -> Result<Pushed, PushError> {
        self.push_with(expected, &self.logins(Some(TOKEN)))
    }

    pub(crate) fn push_with(
        &self,
        expected: Option<&CommitId>,
        logins: &Logins,
    ) -> Result<Pushed, PushError> {
        self.store
            .push(&self.commit, HEAD, expected, logins, &pauses())
    }

    /// A program that does what `pleach git-credential` does, by way of this one.
    fn helper(&self) -> PathBuf {
        let path = self.repo.beside("helper");
        let script = format!(
            "#!/bin/sh\n{OPERATION}=\"$2\" exec '{}' --exact forge::scene::git_asks_for_a_login --nocapture 3>&1 >/dev/null\n",
            std::env::current_exe().unwrap().display()
        );
        // Written by another process: a file that this one had open for writing could still be open in
        // a child of another test, and then cannot be executed.
        let write = "printf %s \"$1\" > \"$0.new\"; chmod +x \"$0.new\"; mv \"$0.new\" \"$0\"";
        let mut shell = Command::new("sh");
        let status = shell.args(["-c", write]).arg(&path).arg(script).status();
        assert!(status.unwrap().success());
        path
    }
}

/// Run by git, by way of the script above; a test like others otherwise.
#[test]
fn git_asks_for_a_login() {
    let Ok(operation) = std::env::var(OPERATION) else {
        return;
    };
    let mut asked = String::new();
    std::io::stdin().read_to_string(&mut asked).unwrap();
    let answer = answer_git(&operation, &asked, &|name| std::env::var(name).ok()).unwrap();
    fs::write("/proc/self/fd/3", answer).unwrap();
}

pub(crate) fn draft(body: &str) -> PullRequestDraft {
    PullRequestDraft {
        head: HEAD.into(),
        base: "main".into(),
        title: "Batch 1: three tasks".into(),
        body: body.into(),
    }
}

/// Two more tries, at once.
pub(crate) fn pauses() -> Pauses {
    Pauses::of([Duration::from_millis(1), Duration::from_millis(2)])
}

/// Everything that an error can say, none of which is the token.
#[track_caller]
pub(crate) fn told(error: &(impl std::error::Error + 'static), hint: Option<String>) -> String {
    let hint = hint.unwrap_or_default();
    let told = format!("{} {error:?} {hint}", with_causes(error));
    assert!(!told.contains(TOKEN), "{told}");
    assert!(!told.contains('\u{1b}'), "{told}");
    told
}

#[track_caller]
pub(crate) fn assert_forge_error(error: &ForgeError, code: &str) -> String {
    let told = told(error, error.hint());
    assert_eq!(error.code(), code, "{told}");
    told
}

#[track_caller]
pub(crate) fn assert_push_error(error: &PushError, code: &str) -> String {
    let told = told(error, error.hint());
    assert_eq!(error.code(), code, "{told}");
    told
}
