//! Merge requests on GitLab, gitlab.com and self-hosted ones, which are its pull requests.
//!
//! Knows the shapes of its interface, version 4. It opens merge requests without any commit and from or into branches
//! that are not there, so that is looked at before.

use serde::Deserialize;
use serde_json::json;

use super::client::{Client, Question};
use super::url::escaped;
use super::{Forge, ForgeError, ForgeProject, PullRequest, PullRequestDraft};

const LOOKING: &str = "look for a merge request";
const OPENING: &str = "open a merge request";
const UPDATING: &str = "update a merge request";

pub(super) struct GitLab {
    client: Client,
    project: String,
}

#[derive(Deserialize)]
struct GitLabMergeRequest {
    iid: u64,
    web_url: String,
    source_branch: String,
    target_branch: String,
    /// Nothing where a fork was deleted.
    source_project_id: Option<u64>,
    target_project_id: u64,
}

impl GitLabMergeRequest {
    fn is_between(&self, head: &str, base: &str) -> bool {
        let is_own = self.source_project_id == Some(self.target_project_id);
        is_own && self.source_branch == head && self.target_branch == base
    }
}

impl GitLab {
    pub(super) fn new(client: Client, project: &ForgeProject) -> Self {
        Self {
            client,
            project: format!("/projects/{}", escaped(project.path())),
        }
    }

    fn pull_request(&self, told: &GitLabMergeRequest) -> Result<PullRequest, ForgeError> {
        self.client.pull_request(told.iid, &told.web_url)
    }

    /// Says why one could not be opened, where the forge would not.
    fn check(&self, draft: &PullRequestDraft) -> Result<(), ForgeError> {
        let repository = format!("{}/repository", self.project);
        let branch = format!("{repository}/branches/{}", escaped(&draft.base));
        let between = escaped(&format!("{}..{}", draft.base, draft.head));
        let commits = format!("{repository}/commits?ref_name={between}&per_page=1");
        self.client.check_between(draft, branch, commits)
    }
}

impl Forge for GitLab {
    fn find(&self, head: &str, base: &str) -> Result<Option<PullRequest>, ForgeError> {
        let answer = self.client.ask(&Question {
            doing: LOOKING,
            method: "GET",
            target: format!(
                "{}/merge_requests?state=opened&source_branch={}&target_branch={}",
                self.project,
                escaped(head),
                escaped(base)
            ),
            body: None,
        })?;
        let told: Vec<GitLabMergeRequest> = self.client.read(LOOKING, &answer)?;
        let found = told.iter().find(|told| told.is_between(head, base));
        found.map(|told| self.pull_request(told)).transpose()
    }

    fn create(&self, draft: &PullRequestDraft) -> Result<PullRequest, ForgeError> {
        self.check(draft)?;
        let body = json!({
            "source_branch": draft.head,
            "target_branch": draft.base,
            "title": draft.fitting_title(),
            "description": draft.fitting_body(),
        });
        let answer = self.client.ask(&Question {
            doing: OPENING,
            method: "POST",
            target: format!("{}/merge_requests", self.project),
            body: Some(&body),
        })?;
        if answer.status == 409 {
            let (host, head) = (self.client.host(), draft.head.clone());
            return Err(ForgeError::Exists { host, head });
        }
        let told: GitLabMergeRequest = self.client.read(OPENING, &answer)?;
        self.pull_request(&told)
    }

    fn update(&self, there: &PullRequest, draft: &PullRequestDraft) -> Result<(), ForgeError> {
        let answer = self.client.ask(&Question {
            doing: UPDATING,
            method: "PUT",
            target: format!("{}/merge_requests/{}", self.project, there.number),
            body: Some(&json!({ "description": draft.fitting_body() })),
        })?;
        self.client
            .read::<GitLabMergeRequest>(UPDATING, &answer)
            .map(drop)
    }
}
