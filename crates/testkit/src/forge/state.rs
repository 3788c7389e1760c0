//! The pull requests of a stand-in forge, and what its requests do to them.
//!
//! Does what the forges do, their odd ways included: two of them open pull requests that have no commit.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::route::Routed;
use super::{Failure, ForgeRequest, ForgeStep, ForgeStyle, is_repository, shape};
use crate::hermetic::{ask, attempt};
use crate::http::Reply;

/// Of how many items a page has unless asked for more or fewer.
const PAGE: usize = 30;

/// A pull request on a stand-in forge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    pub number: u64,
    /// The project: `owner/name`.
    pub project: String,
    pub head: String,
    pub base: String,
    pub title: String,
    pub body: String,
    /// Whether it is neither merged nor closed.
    pub is_open: bool,
    /// The number of the fork that its branch is in, if it is in one.
    pub fork: Option<u64>,
}

/// What somebody else does before a request is answered.
pub(super) struct Meanwhile {
    pub(super) step: ForgeStep,
    pub(super) folder: PathBuf,
    pub(super) words: Vec<String>,
}

pub(super) struct State {
    pub(super) root: PathBuf,
    pub(super) web: String,
    pub(super) is_private: bool,
    pub(super) pull_requests: Vec<Opened>,
    pub(super) requests: Vec<ForgeRequest>,
    pub(super) failures: VecDeque<(ForgeStep, Failure)>,
    pub(super) meanwhile: Vec<Meanwhile>,
}

impl State {
    pub(super) fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            web: String::new(),
            is_private: false,
            pull_requests: Vec::new(),
            requests: Vec::new(),
            failures: VecDeque::new(),
            meanwhile: Vec::new(),
        }
    }

    pub(super) fn take_failure(&mut self, step: ForgeStep) -> Option<Failure> {
        let at = self.failures.iter().position(|(at, _)| *at == step)?;
        self.failures.remove(at).map(|(_, failure)| failure)
    }

    pub(super) fn let_others_act(&mut self, step: ForgeStep) {
        for act in self.meanwhile.extract_if(.., |act| act.step == step) {
            let words: Vec<_> = act.words.iter().map(String::as_str).collect();
            ask(&act.folder, &words);
        }
    }

    pub(super) fn add(&mut self, opened: Opened) -> u64 {
        let number = self.pull_requests.len() as u64 + 1;
        self.pull_requests.push(Opened { number, ..opened });
        number
    }

    pub(super) fn perform(&mut self, style: ForgeStyle, routed: &Routed) -> Reply {
        if !is_repository(&self.folder(&routed.project)) {
            return shape::not_found(style);
        }
        match routed.step {
            ForgeStep::Find => self.list(style, routed),
            ForgeStep::Create => self.create(style, routed),
            ForgeStep::Update => self.update(style, routed),
            ForgeStep::Branch if self.has(&routed.project, &routed.which) => {
                let commit = json!({ "id": "0".repeat(40) });
                let branch = json!({ "name": routed.which, "commit": commit, "protected": false });
                shape::answer(200, &[], &branch)
            }
            ForgeStep::Commits => self.commits(style, routed),
            _ => shape::not_found(style),
        }
    }

    fn folder(&self, project: &str) -> PathBuf {
        self.root.join(format!("{project}.git"))
    }

    fn has(&self, project: &str, branch: &str) -> bool {
        let name = format!("refs/heads/{branch}");
        let words = ["show-ref", "--verify", "--quiet", &name];
        attempt(&self.folder(project), &words).status.success()
    }

    /// The commits that one branch has and another has not; nothing where one is not there.
    fn between(&self, project: &str, base: &str, head: &str) -> Option<usize> {
        let range = format!("refs/heads/{base}..refs/heads/{head}");
        let counted = attempt(&self.folder(project), &["rev-list", "--count", &range]);
        let printed = String::from_utf8_lossy(&counted.stdout).into_owned();
        printed
            .trim()
            .parse()
            .ok()
            .filter(|_| counted.status.success())
    }

    fn list(&self, style: ForgeStyle, routed: &Routed) -> Reply {
        let owner = routed.project.split('/').next().unwrap_or_default();
        let (head, base) = match style {
            ForgeStyle::GitHub => (routed.asked_for("head"), routed.asked_for("base")),
            ForgeStyle::GitLab => (
                routed.asked_for("source_branch"),
                routed.asked_for("target_branch"),
            ),
            ForgeStyle::Gitea => ("", routed.asked_for("base_branch")),
        };
        let is_asked = |opened: &&Opened| {
            let from = match style {
                ForgeStyle::GitHub => format!("{owner}:{}", opened.head),
                ForgeStyle::GitLab | ForgeStyle::Gitea => opened.head.clone(),
            };
            let fits =
                (head.is_empty() || head == from) && (base.is_empty() || base == opened.base);
            opened.is_open && opened.project == routed.project && fits
        };
        let number = |name: &str| routed.asked_for(name).parse().ok();
        let size = number("limit").or_else(|| number("per_page"));
        let size = size.unwrap_or(PAGE);
        let skipped = (number("page").unwrap_or(1) - 1) * size;
        let all: Vec<_> = self.pull_requests.iter().filter(is_asked).collect();
        let page = all.iter().skip(skipped).take(size);
        let page = page.map(|opened| self.told(style, opened));
        let page: Vec<_> = page.collect();
        let mut headers = Vec::new();
        if all.len() > skipped + page.len() {
            headers.push((
                "Link",
                "<http://127.0.0.1:1/elsewhere>; rel=\"next\"".to_owned(),
            ));
        }
        shape::answer(200, &headers, &page.into())
    }

    fn told(&self, style: ForgeStyle, opened: &Opened) -> Value {
        shape::pull_request(style, &self.web, 7, opened)
    }

    fn create(&mut self, style: ForgeStyle, routed: &Routed) -> Reply {
        let project = routed.project.clone();
        let (head, base, body) = match style {
            ForgeStyle::GitLab => ("source_branch", "target_branch", "description"),
            ForgeStyle::GitHub | ForgeStyle::Gitea => ("head", "base", "body"),
        };
        let (head, base) = (routed.text(head), routed.text(base));
        let mut open = self.pull_requests.iter().filter(|opened| opened.is_open);
        let same = open.find(|opened| {
            let is_own = opened.fork.is_none() && opened.project == project;
            is_own && (&opened.head, &opened.base) == (&head, &base)
        });
        if let Some(refusal) = self.refusal(style, &project, &head, &base, same) {
            return refusal;
        }
        let opened = Opened {
            number: 0,
            project,
            head,
            base,
            title: routed.text("title"),
            body: routed.text(body),
            is_open: true,
            fork: None,
        };
        self.add(opened);
        let opened = self.pull_requests.last().expect("it was just added");
        shape::answer(201, &[], &self.told(style, opened))
    }

    fn refusal(
        &self,
        style: ForgeStyle,
        project: &str,
        head: &str,
        base: &str,
        same: Option<&Opened>,
    ) -> Option<Reply> {
        let has = |branch: &str| self.has(project, branch);
        let error = |field: &str, code: &str, message: String| {
            let mut error = json!({ "resource": "PullRequest", "code": code });
            let (name, value) = if field.is_empty() {
                ("message", message)
            } else {
                ("field", field.into())
            };
            error[name] = value.into();
            shape::invalid(&json!([error]))
        };
        match (style, same) {
            (ForgeStyle::GitHub, _) if !has(base) => Some(error("base", "invalid", String::new())),
            (ForgeStyle::GitHub, _) if !has(head) => Some(error("head", "invalid", String::new())),
            (ForgeStyle::GitHub, None) if self.between(project, base, head) == Some(0) => {
                let words = format!("No commits between {base} and {head}");
                Some(error("", "custom", words))
            }
            (ForgeStyle::GitHub, Some(_)) => {
                let words = format!("A pull request already exists for owner:{head}.");
                Some(error("", "custom", words))
            }
            (ForgeStyle::GitLab, Some(same)) => {
                let words = "Another open merge request already exists for this source branch";
                let body = json!({ "message": [format!("{words}: !{}", same.number)] });
                Some(shape::answer(409, &[], &body))
            }
            (ForgeStyle::Gitea, _) if !has(base) || !has(head) => Some(shape::not_found(style)),
            (ForgeStyle::Gitea, Some(same)) => {
                let words = "pull request already exists for these targets";
                Some(shape::error(
                    409,
                    &format!("{words} [id: 1, issue_id: {}]", same.number),
                ))
            }
            _ => None,
        }
    }

    fn update(&mut self, style: ForgeStyle, routed: &Routed) -> Reply {
        let key = match style {
            ForgeStyle::GitLab => "description",
            ForgeStyle::GitHub | ForgeStyle::Gitea => "body",
        };
        let number = routed.which.parse();
        let mut all = self.pull_requests.iter_mut();
        let found =
            all.find(|opened| Ok(opened.number) == number && opened.project == routed.project);
        let Some(found) = found else {
            return shape::not_found(style);
        };
        for (name, place) in [(key, &mut found.body), ("title", &mut found.title)] {
            if routed.body.contains_key(name) {
                *place = routed.text(name);
            }
        }
        let status = if style == ForgeStyle::Gitea { 201 } else { 200 };
        let found = found.clone();
        shape::answer(status, &[], &self.told(style, &found))
    }

    fn commits(&self, style: ForgeStyle, routed: &Routed) -> Reply {
        let (base, head) = match style {
            ForgeStyle::GitLab => {
                let range = routed.asked_for("ref_name");
                range.split_once("..").unwrap_or(("", range))
            }
            ForgeStyle::GitHub | ForgeStyle::Gitea => {
                (routed.asked_for("not"), routed.asked_for("sha"))
            }
        };
        let Some(commits) = self.between(&routed.project, base, head) else {
            return shape::not_found(style);
        };
        let commit = json!({ "id": "0".repeat(40), "sha": "0".repeat(40) });
        let commits = vec![commit; commits.min(1)];
        shape::answer(200, &[], &commits.into())
    }
}
