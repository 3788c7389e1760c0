//! Opens one pull request on the forge that a project comes from, whatever the network does meanwhile.
//!
//! Knows nothing of batches, and of git only where a project comes from; pushing is done elsewhere.

mod between;
mod client;
mod error;
mod gitea;
mod github;
mod gitlab;
mod project;
mod url;

use pleach_domain::choice::ForgeKind;
use pleach_git::git::{Login, Pauses, plain_words};
use std::time::{Duration, SystemTime};

use self::client::Client;
use self::gitea::Gitea;
use self::github::GitHub;
use self::gitlab::GitLab;

pub use error::ForgeError;
pub use project::recognise;
pub use project::{ForgeProject, Unrecognised};

/// How long an answer may take before it counts as lost.
pub(crate) const ANSWER_WITHIN: Duration = Duration::from_secs(30);

/// The least of what the forges allow, in letters.
const LONGEST_TITLE: usize = 250;
const LONGEST_BODY: usize = 65_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequestDraft {
    pub head: String,
    pub base: String,
    /// One line.
    pub title: String,
    /// Markdown.
    pub body: String,
}

impl PullRequestDraft {
    /// The title as every forge takes it.
    fn fitting_title(&self) -> String {
        plain_words(&self.title, LONGEST_TITLE)
    }

    fn fitting_body(&self) -> String {
        match self.body.char_indices().nth(LONGEST_BODY) {
            Some((end, _)) => format!("{}\n\n(cut off here)\n", &self.body[..end]),
            None => self.body.clone(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    pub number: u64,
    /// Its page.
    pub url: String,
}

/// A forge on which one project lives; each call is one try.
pub trait Forge: Send + Sync {
    /// The open pull request from one branch of the project into another.
    fn find(&self, head: &str, base: &str) -> Result<Option<PullRequest>, ForgeError>;

    fn create(&self, draft: &PullRequestDraft) -> Result<PullRequest, ForgeError>;

    /// Replaces the text of one; its title may have been changed by a person and stays.
    fn update(&self, there: &PullRequest, draft: &PullRequestDraft) -> Result<(), ForgeError>;
}

pub fn connect(project: &ForgeProject, login: Option<Login>) -> Result<Box<dyn Forge>, ForgeError> {
    connect_within(project, login, ANSWER_WITHIN)
}

/// The same, with another time after which an answer counts as lost.
pub fn connect_within(
    project: &ForgeProject,
    login: Option<Login>,
    answer_within: Duration,
) -> Result<Box<dyn Forge>, ForgeError> {
    let Some(login) = login else {
        return Err(ForgeError::NoLogin {
            host: project.host().to_owned(),
        });
    };
    let client = Client::new(project, login, answer_within);
    Ok(match project.kind() {
        ForgeKind::GitLab => Box::new(GitLab::new(client, project)),
        ForgeKind::Gitea => Box::new(Gitea::new(client, project)),
        // A project is recognised only with a forge.
        ForgeKind::GitHub | ForgeKind::None => Box::new(GitHub::new(client, project)),
    })
}

/// Opens a pull request, or brings the text of the one that is there up to date: never makes two.
///
/// Every try begins with a look for it, so a request that was opened while its answer was lost is found.
pub fn open_pull_request(
    forge: &dyn Forge,
    draft: &PullRequestDraft,
    pauses: &Pauses,
) -> Result<PullRequest, ForgeError> {
    let mut between = pauses.each();
    loop {
        let error = match attempt(forge, draft) {
            Err(error) if error.may_pass() => error,
            ended => return ended,
        };
        let Some(pause) = between.next() else {
            return Err(error);
        };
        let pause = match error.wait(SystemTime::now()) {
            Some(wait) if !pauses.covers(wait) => return Err(error),
            Some(wait) => wait.max(pause),
            None => pause,
        };
        if !pauses.rest(pause) {
            return Err(error);
        }
    }
}

fn attempt(forge: &dyn Forge, draft: &PullRequestDraft) -> Result<PullRequest, ForgeError> {
    if let Some(there) = forge.find(&draft.head, &draft.base)? {
        return match forge.update(&there, draft) {
            Ok(()) => Ok(there),
            Err(error) if error.may_pass() => Err(error),
            Err(error) => Err(ForgeError::NotUpdated {
                pull_request: there,
                source: Box::new(error),
            }),
        };
    }
    forge.create(draft)
}
