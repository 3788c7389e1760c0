//! A stand-in for a forge on loopback: repositories that are pushed to, and the interface for pull requests.
//!
//! Speaks as GitHub Enterprise, GitLab or Gitea does, checks every request against what they publish, and fails where
//! a test wants it to.

mod route;
mod shape;
mod state;

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard};

use tempfile::TempDir;

use self::route::Routed;
use self::state::{Meanwhile, State};
use crate::hermetic::ask;
use crate::http::{
    Handler, HttpRequest, Listening, Reply, UNAUTHORIZED, backend, is_in_argv, login,
};
use crate::repo::TestRepo;

pub use state::Opened;

/// Whose interface is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForgeStyle {
    /// GitHub Enterprise, below `/api/v3`.
    GitHub,
    /// GitLab, below `/api/v4`.
    GitLab,
    /// Gitea and Forgejo, below `/api/v1`.
    Gitea,
}

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForgeStep {
    Find,
    Create,
    Update,
    Branch,
    Commits,
    Fetch,
    AnnouncePush,
    Push,
}

/// What goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForgeFault {
    /// The connection ends without an answer.
    Cut,
    /// No answer ever comes.
    Silence,
    /// A status, with words of the forge that repeat the login.
    Status(u16),
    BadLogin,
    NoRights,
    /// No more requests for so many seconds.
    RateLimited(u64),
    /// GitHub's other limit, which all tell in a header of their own.
    Throttled(u64),
    /// A good status, and a page for people.
    Garbage,
    MovedTo(String),
}

/// When it goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    Before(ForgeFault),
    /// After it was done, so that only the answer is lost.
    After(ForgeFault),
}

#[derive(Debug, Clone)]
pub struct ForgeRequest {
    pub step: Option<ForgeStep>,
    pub method: String,
    pub target: String,
    /// What is wrong with it by what the forge publishes.
    pub complaint: Option<String>,
    /// Whether any process of this machine had the token on its command line then.
    pub is_token_in_argv: bool,
}

/// Serves repositories and the interface of a forge until it is dropped.
pub struct ForgeServer {
    shared: Arc<ForgeInner>,
    listening: Listening,
    root: TempDir,
}

struct ForgeInner {
    style: ForgeStyle,
    token: String,
    state: Mutex<State>,
}

impl ForgeServer {
    pub fn start(style: ForgeStyle, token: &str) -> Self {
        let root = TempDir::new().expect("a temporary folder can be made");
        let shared = Arc::new(ForgeInner {
            style,
            token: token.to_owned(),
            state: Mutex::new(State::new(root.path())),
        });
        let listening = Listening::start(Arc::clone(&shared) as Arc<dyn Handler>);
        let server = Self {
            shared,
            listening,
            root,
        };
        let web = format!("http://{}", server.host());
        server.state().web = web;
        server
    }

    pub fn host(&self) -> String {
        self.listening.host()
    }

    /// Puts a copy of a repository at a path: `owner/name`.
    pub fn add(&self, path: &str, repo: &TestRepo) {
        let here = self.repository(path);
        let parent = here.parent().expect("it is below the root");
        std::fs::create_dir_all(parent).expect("folders can be made");
        let (from, to) = (repo.path().display(), here.display());
        let words = [
            "clone",
            "--quiet",
            "--bare",
            &from.to_string(),
            &to.to_string(),
        ];
        ask(self.root.path(), &words);
    }

    /// The address that git knows a repository by.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}/{path}.git", self.host())
    }

    pub fn repository(&self, path: &str) -> PathBuf {
        let root = self.root.path().canonicalize();
        let root = root.expect("it lives as long as self");
        root.join(format!("{path}.git"))
    }

    /// Lets nobody read who has no login.
    pub fn make_private(&self) {
        self.state().is_private = true;
    }

    /// Makes the repository decline pushes to a branch, in the words of a forge.
    pub fn protect(&self, path: &str, branch: &str) {
        let text = format!(
            "#!/bin/sh\ncase \"$1\" in\nrefs/heads/{branch})\n  echo 'GH006: Protected branch update failed.' >&2\n  \
             exit 1;;\nesac\n"
        );
        self.hook(path, "update", &text);
    }

    pub fn hook(&self, path: &str, name: &str, text: &str) {
        let hook = self.repository(path).join("hooks").join(name);
        // Written by another process: a file that this one had open for writing could still be open in a child
        // of another test, and then cannot be executed.
        let script = "mkdir -p \"${0%/*}\"; printf %s \"$1\" > \"$0\"; chmod +x \"$0\"";
        let mut shell = Command::new("sh");
        let status = shell.args(["-c", script]).arg(hook).arg(text).status();
        assert!(status.expect("there is a shell").success());
    }

    /// Lets the next request for something fail; several failures come one after the other.
    pub fn fail(&self, step: ForgeStep, failure: Failure) {
        self.state().failures.push_back((step, failure));
    }

    /// Lets somebody run git in a repository just before the next request for something is answered.
    pub fn meanwhile(&self, step: ForgeStep, path: &str, words: &[&str]) {
        let words = words.iter().map(|word| (*word).to_owned());
        let meanwhile = Meanwhile {
            step,
            folder: self.repository(path),
            words: words.collect(),
        };
        self.state().meanwhile.push(meanwhile);
    }

    pub fn pull_requests(&self) -> Vec<Opened> {
        self.state().pull_requests.clone()
    }

    /// Opens one as somebody else would: from a branch of a fork if `fork` is given.
    pub fn open(&self, path: &str, head: &str, base: &str, fork: Option<u64>) -> u64 {
        let text = |text: &str| text.to_owned();
        let mut state = self.state();
        let opened = Opened {
            number: 0,
            project: text(path),
            head: text(head),
            base: text(base),
            title: text("somebody's title"),
            body: text("somebody's text"),
            is_open: true,
            fork,
        };
        state.add(opened)
    }

    pub fn close(&self, number: u64) {
        let mut state = self.state();
        let mut all = state.pull_requests.iter_mut();
        let found = all.find(|opened| opened.number == number);
        found.expect("there is one of this number").is_open = false;
    }

    /// Forgets all pull requests, requests and failures, so that a test can begin again.
    pub fn forget(&self) {
        let mut state = self.state();
        state.pull_requests.clear();
        state.requests.clear();
        state.failures.clear();
    }

    pub fn requests(&self) -> Vec<ForgeRequest> {
        self.state().requests.clone()
    }

    pub fn count(&self, step: ForgeStep) -> usize {
        let requests = self.requests();
        let asked = requests.iter().filter(|asked| asked.step == Some(step));
        asked.count()
    }

    /// Panics unless every request was as it has to be and none gave the token away.
    #[track_caller]
    pub fn assert_well_asked(&self) {
        for asked in self.requests() {
            assert_eq!(asked.complaint, None, "{asked:?}");
            assert!(!asked.is_token_in_argv, "{asked:?}");
            assert!(!asked.target.contains(&self.shared.token), "{asked:?}");
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state()
    }
}

impl ForgeInner {
    fn state(&self) -> MutexGuard<'_, State> {
        let state = self.state.lock();
        state.expect("no thread panics while it answers")
    }

    fn note(&self, asked: &HttpRequest, step: Option<ForgeStep>, complaint: Option<String>) {
        let asking = ForgeRequest {
            step,
            method: asked.method.clone(),
            target: asked.target.clone(),
            complaint,
            is_token_in_argv: is_in_argv(&self.token),
        };
        self.state().requests.push(asking);
    }

    fn repository(&self, asked: &HttpRequest) -> io::Result<Reply> {
        let step = match asked.target.split_once(".git/").map(|(_, rest)| rest) {
            Some("info/refs?service=git-receive-pack") => ForgeStep::AnnouncePush,
            Some("git-receive-pack") => ForgeStep::Push,
            _ => ForgeStep::Fetch,
        };
        self.note(asked, Some(step), None);
        self.state().let_others_act(step);
        let login = asked.headers.get("authorization").map(|value| login(value));
        let password = login.as_deref().and_then(|login| login.split_once(':'));
        let is_known = password.is_some_and(|(_, password)| password == self.token);
        let is_open = step == ForgeStep::Fetch && !self.state().is_private && login.is_none();
        if !is_known && !is_open {
            return Ok(Reply::Bytes(UNAUTHORIZED.into()));
        }
        let failure = self.state().take_failure(step);
        if let Some(Failure::Before(fault)) = &failure {
            return Ok(shape::fault(self.style, fault, &self.token));
        }
        let root = self.state().root.clone();
        let answer = backend(&root, asked)?;
        Ok(match &failure {
            Some(Failure::After(fault)) => shape::fault(self.style, fault, &self.token),
            _ => Reply::Bytes(answer),
        })
    }

    fn interface(&self, asked: &HttpRequest, target: &str) -> Reply {
        let routed = Routed::find(self.style, asked, target);
        let (step, complaint) = match &routed {
            Ok(routed) => (Some(routed.step), routed.complaint(self.style, asked)),
            Err(complaint) => (None, Some(complaint.clone())),
        };
        self.note(asked, step, complaint.clone());
        let Ok(routed) = routed else {
            return shape::not_found(self.style);
        };
        if let Some(complaint) = complaint {
            return shape::error(400, &complaint);
        }
        if !route::is_logged_in(self.style, asked, &self.token) {
            return shape::fault(self.style, &ForgeFault::BadLogin, "");
        }
        let failure = self.state().take_failure(routed.step);
        if let Some(Failure::Before(fault)) = &failure {
            return shape::fault(self.style, fault, &self.token);
        }
        let answer = self.state().perform(self.style, &routed);
        match &failure {
            Some(Failure::After(fault)) => shape::fault(self.style, fault, &self.token),
            _ => answer,
        }
    }
}

impl Handler for ForgeInner {
    fn answer(&self, asked: &HttpRequest) -> io::Result<Reply> {
        let below = match self.style {
            ForgeStyle::GitHub => "/api/v3",
            ForgeStyle::GitLab => "/api/v4",
            ForgeStyle::Gitea => "/api/v1",
        };
        match asked.target.strip_prefix(below) {
            Some(target) => Ok(self.interface(asked, target)),
            None => self.repository(asked),
        }
    }
}

fn is_repository(folder: &Path) -> bool {
    folder.join("HEAD").is_file()
}
