//! Pull requests on Gitea, Forgejo and Codeberg.
//!
//! Knows the shapes of their interface, version 1. It opens pull requests without any commit, so that is looked at
//! before.

use super::client::{Client, Question};
use super::github::GitHubPullRequest;
use super::url::{escaped, escaped_path};
use super::{Forge, ForgeError, ForgeProject, PullRequest, PullRequestDraft};

const LOOKING: &str = "look for a pull request";
const OPENING: &str = "open a pull request";

/// Few enough that an answer stays short, whatever people write.
const PAGE: usize = 20;
const MOST_PAGES: usize = 100;

pub(super) struct Gitea {
    client: Client,
    project: String,
}

impl Gitea {
    pub(super) fn new(client: Client, project: &ForgeProject) -> Self {
        Self {
            client,
            project: format!("/repos/{}", escaped_path(project.path())),
        }
    }

    /// Says why one could not be opened, where the forge would not.
    fn check(&self, draft: &PullRequestDraft) -> Result<(), ForgeError> {
        let (project, base) = (&self.project, &draft.base);
        let branch = format!("{project}/branches/{}", escaped_path(base));
        let commits = format!(
            "{project}/commits?sha={}&not={}&limit=1&stat=false&verification=false&files=false",
            escaped(&draft.head),
            escaped(base)
        );
        self.client.check_between(draft, branch, commits)
    }
}

impl Forge for Gitea {
    fn find(&self, head: &str, base: &str) -> Result<Option<PullRequest>, ForgeError> {
        for page in 1..=MOST_PAGES {
            let answer = self.client.ask(&Question {
                doing: LOOKING,
                method: "GET",
                target: format!(
                    "{}/pulls?state=open&sort=recentupdate&limit={PAGE}&page={page}",
                    self.project
                ),
                body: None,
            })?;
            let told: Vec<GitHubPullRequest> = self.client.read(LOOKING, &answer)?;
            if let Some(told) = told.iter().find(|told| told.is_between(head, base)) {
                return told.pull_request(&self.client).map(Some);
            }
            if !answer.has_more {
                break;
            }
        }
        Ok(None)
    }

    fn create(&self, draft: &PullRequestDraft) -> Result<PullRequest, ForgeError> {
        self.check(draft)?;
        let body = GitHubPullRequest::opened(draft);
        let answer = self.client.ask(&Question {
            doing: OPENING,
            method: "POST",
            target: format!("{}/pulls", self.project),
            body: Some(&body),
        })?;
        let host = self.client.host();
        let head = draft.head.clone();
        match answer.status {
            404 => Err(ForgeError::HeadMissing { host, head }),
            409 => Err(ForgeError::Exists { host, head }),
            _ => {
                let told: GitHubPullRequest = self.client.read(OPENING, &answer)?;
                told.pull_request(&self.client)
            }
        }
    }

    fn update(&self, there: &PullRequest, draft: &PullRequestDraft) -> Result<(), ForgeError> {
        let target = format!("{}/pulls/{}", self.project, there.number);
        GitHubPullRequest::update(&self.client, target, draft)
    }
}
