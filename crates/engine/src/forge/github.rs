//! Pull requests on GitHub and GitHub Enterprise.
//!
//! Knows the shapes of its REST interface, version 2022-11-28.

use serde::Deserialize;
use serde_json::{Value, json};

use super::client::{Answer, Client, Question};
use super::url::{escaped, escaped_path};
use super::{Forge, ForgeError, ForgeProject, PullRequest, PullRequestDraft};

const LOOKING: &str = "look for a pull request";
const OPENING: &str = "open a pull request";
const UPDATING: &str = "update a pull request";

pub(super) struct GitHub {
    client: Client,
    owner: String,
    pulls: String,
}

#[derive(Deserialize)]
pub(super) struct GitHubPullRequest {
    number: u64,
    html_url: String,
    head: PullRequestBranch,
    base: PullRequestBranch,
}

#[derive(Deserialize)]
struct PullRequestBranch {
    #[serde(rename = "ref")]
    branch: String,
    /// Nothing where a fork was deleted.
    repo: Option<Repo>,
}

#[derive(Deserialize, PartialEq, Eq)]
struct Repo {
    id: u64,
}

impl GitHubPullRequest {
    /// Whether it goes from one branch of the project itself into another.
    pub(super) fn is_between(&self, head: &str, base: &str) -> bool {
        let is_own = self.head.repo.is_some() && self.head.repo == self.base.repo;
        is_own && self.head.branch == head && self.base.branch == base
    }

    pub(super) fn pull_request(&self, client: &Client) -> Result<PullRequest, ForgeError> {
        client.pull_request(self.number, &self.html_url)
    }

    /// What a request says that opens one.
    pub(super) fn opened(draft: &PullRequestDraft) -> Value {
        json!({
            "title": draft.fitting_title(),
            "head": draft.head,
            "base": draft.base,
            "body": draft.fitting_body(),
        })
    }

    pub(super) fn update(
        client: &Client,
        target: String,
        draft: &PullRequestDraft,
    ) -> Result<(), ForgeError> {
        let answer = client.ask(&Question {
            doing: UPDATING,
            method: "PATCH",
            target,
            body: Some(&json!({ "body": draft.fitting_body() })),
        })?;
        client.read::<Self>(UPDATING, &answer).map(drop)
    }
}

impl GitHub {
    pub(super) fn new(client: Client, project: &ForgeProject) -> Self {
        Self {
            client,
            owner: project.owner().to_owned(),
            pulls: format!("/repos/{}/pulls", escaped_path(project.path())),
        }
    }

    fn why_not(&self, answer: &Answer, draft: &PullRequestDraft) -> ForgeError {
        let host = self.client.host();
        let body = answer.json().unwrap_or_default();
        let errors = body["errors"].as_array().map_or(&[][..], Vec::as_slice);
        let is_invalid = |field: &str| {
            let fits = |error: &Value| error["field"] == field && error["code"] == "invalid";
            errors.iter().any(fits)
        };
        let says = |words: &str| {
            let mut messages = errors.iter().filter_map(|error| error["message"].as_str());
            messages.any(|message| message.contains(words))
        };
        let (head, base) = (draft.head.clone(), draft.base.clone());
        match answer.status {
            422 if says("pull request already exists") => ForgeError::Exists { host, head },
            422 if says("No commits between") => ForgeError::NothingToLand { head, base },
            422 if is_invalid("base") => ForgeError::BaseMissing { host, base },
            422 if is_invalid("head") => ForgeError::HeadMissing { host, head },
            _ => self.client.refused(OPENING, answer),
        }
    }
}

impl Forge for GitHub {
    fn find(&self, head: &str, base: &str) -> Result<Option<PullRequest>, ForgeError> {
        let from = format!("{}:{head}", self.owner);
        let answer = self.client.ask(&Question {
            doing: LOOKING,
            method: "GET",
            target: format!(
                "{}?state=open&head={}&base={}",
                self.pulls,
                escaped(&from),
                escaped(base)
            ),
            body: None,
        })?;
        let told: Vec<GitHubPullRequest> = self.client.read(LOOKING, &answer)?;
        let found = told.iter().find(|told| told.is_between(head, base));
        found
            .map(|told| told.pull_request(&self.client))
            .transpose()
    }

    fn create(&self, draft: &PullRequestDraft) -> Result<PullRequest, ForgeError> {
        let body = GitHubPullRequest::opened(draft);
        let answer = self.client.ask(&Question {
            doing: OPENING,
            method: "POST",
            target: self.pulls.clone(),
            body: Some(&body),
        })?;
        if answer.status >= 400 {
            return Err(self.why_not(&answer, draft));
        }
        let told: GitHubPullRequest = self.client.read(OPENING, &answer)?;
        told.pull_request(&self.client)
    }

    fn update(&self, there: &PullRequest, draft: &PullRequestDraft) -> Result<(), ForgeError> {
        let target = format!("{}/{}", self.pulls, there.number);
        GitHubPullRequest::update(&self.client, target, draft)
    }
}
