//! What the forges publish of their requests, as tables, and the check of a request against them.
//!
//! Knows nothing of what an answer holds.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{ForgeStep, ForgeStyle};
use crate::http::{HttpRequest, percent_decoded};

/// One kind of request as it is published; `*` in a name says that it may be left out.
struct Route {
    step: ForgeStep,
    method: &'static str,
    path: &'static str,
    query: &'static str,
    /// Fields of the body, all of which are texts.
    body: &'static str,
}

const fn route(
    step: ForgeStep,
    method: &'static str,
    path: &'static str,
    query: &'static str,
    body: &'static str,
) -> Route {
    Route {
        step,
        method,
        path,
        query,
        body,
    }
}

const GITHUB: [Route; 3] = [
    route(
        ForgeStep::Find,
        "GET",
        "/repos/{owner}/{name}/pulls",
        "state* head* base* sort* direction* per_page* page*",
        "",
    ),
    route(
        ForgeStep::Create,
        "POST",
        "/repos/{owner}/{name}/pulls",
        "",
        "head base title body*",
    ),
    route(
        ForgeStep::Update,
        "PATCH",
        "/repos/{owner}/{name}/pulls/{number}",
        "",
        "title* body* base*",
    ),
];

const GITEA: [Route; 5] = [
    route(
        ForgeStep::Find,
        "GET",
        "/repos/{owner}/{name}/pulls",
        "state* sort* base_branch* page* limit*",
        "",
    ),
    route(
        ForgeStep::Create,
        "POST",
        "/repos/{owner}/{name}/pulls",
        "",
        "head base title* body*",
    ),
    route(
        ForgeStep::Update,
        "PATCH",
        "/repos/{owner}/{name}/pulls/{number}",
        "",
        "title* body* base*",
    ),
    route(
        ForgeStep::Branch,
        "GET",
        "/repos/{owner}/{name}/branches/{branch}",
        "",
        "",
    ),
    route(
        ForgeStep::Commits,
        "GET",
        "/repos/{owner}/{name}/commits",
        "sha* not* page* limit* stat* verification* files*",
        "",
    ),
];

const GITLAB: [Route; 5] = [
    route(
        ForgeStep::Find,
        "GET",
        "/projects/{id}/merge_requests",
        "state* source_branch* target_branch* per_page* page*",
        "",
    ),
    route(
        ForgeStep::Create,
        "POST",
        "/projects/{id}/merge_requests",
        "",
        "source_branch target_branch title description*",
    ),
    route(
        ForgeStep::Update,
        "PUT",
        "/projects/{id}/merge_requests/{number}",
        "",
        "title* description* target_branch*",
    ),
    route(
        ForgeStep::Branch,
        "GET",
        "/projects/{id}/repository/branches/{branch}",
        "",
        "",
    ),
    route(
        ForgeStep::Commits,
        "GET",
        "/projects/{id}/repository/commits",
        "ref_name* per_page* page*",
        "",
    ),
];

/// A request that was understood.
pub(super) struct Routed {
    pub(super) step: ForgeStep,
    pub(super) project: String,
    /// The number or the branch in the path.
    pub(super) which: String,
    pub(super) query: HashMap<String, String>,
    pub(super) body: Map<String, Value>,
    route: &'static Route,
}

impl Routed {
    pub(super) fn find(
        style: ForgeStyle,
        asked: &HttpRequest,
        target: &str,
    ) -> Result<Self, String> {
        let routes: &'static [Route] = match style {
            ForgeStyle::GitHub => &GITHUB,
            ForgeStyle::GitLab => &GITLAB,
            ForgeStyle::Gitea => &GITEA,
        };
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut fitting = routes.iter().filter(|route| route.method == asked.method);
        let found = fitting.find_map(|route| Some((route, pieces(style, route.path, path)?)));
        let (route, pieces) = found.ok_or_else(|| format!("no {} {path}", asked.method))?;
        let piece = |name| pieces.get(name).cloned();
        let project = match (piece("{owner}"), piece("{name}")) {
            (Some(owner), Some(name)) => format!("{owner}/{name}"),
            _ => piece("{id}").unwrap_or_default(),
        };
        let query = query.split('&').filter_map(|pair| pair.split_once('='));
        let query = query.map(|(name, value)| (name.to_owned(), percent_decoded(value)));
        let body = serde_json::from_slice(&asked.body);
        Ok(Self {
            step: route.step,
            project,
            which: piece("{number}")
                .or_else(|| piece("{branch}"))
                .unwrap_or_default(),
            query: query.collect(),
            body: body.unwrap_or_default(),
            route,
        })
    }

    pub(super) fn complaint(&self, style: ForgeStyle, asked: &HttpRequest) -> Option<String> {
        let header = |name: &str| asked.headers.get(name).map_or("", String::as_str);
        if header("user-agent").is_empty() {
            return Some("there is no User-Agent".into());
        }
        let accept = match style {
            ForgeStyle::GitHub => "application/vnd.github+json",
            ForgeStyle::GitLab | ForgeStyle::Gitea => "application/json",
        };
        if header("accept") != accept {
            return Some(format!("Accept is {:?}", header("accept")));
        }
        if style == ForgeStyle::GitHub && header("x-github-api-version") != "2022-11-28" {
            return Some("X-GitHub-Api-Version is missing".into());
        }
        let has_body = self.route.method != "GET";
        if has_body && header("content-type") != "application/json" {
            return Some(format!("Content-Type is {:?}", header("content-type")));
        }
        if !has_body && !asked.body.is_empty() {
            return Some("there is a body".into());
        }
        let names: Vec<_> = self.query.keys().map(String::as_str).collect();
        let about_query = misfit(self.route.query, &names);
        let names: Vec<_> = self.body.keys().map(String::as_str).collect();
        let about_body = misfit(self.route.body, &names);
        let mut values = self.body.iter();
        let no_text = values.find(|(_, value)| !value.is_string());
        let no_text = no_text.map(|(name, _)| format!("{name} is no text"));
        about_query.or(about_body).or(no_text)
    }

    pub(super) fn text(&self, name: &str) -> String {
        let text = self.body.get(name).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    }

    pub(super) fn asked_for(&self, name: &str) -> &str {
        self.query.get(name).map_or("", String::as_str)
    }
}

/// Fits a path into a pattern; a branch on Gitea may have slashes.
fn pieces(
    style: ForgeStyle,
    pattern: &'static str,
    path: &str,
) -> Option<HashMap<&'static str, String>> {
    let mut found = HashMap::new();
    let mut rest = path.split('/');
    for wanted in pattern.split('/') {
        if wanted == "{branch}" && style == ForgeStyle::Gitea {
            let all: Vec<_> = rest.by_ref().collect();
            found.insert(wanted, percent_decoded(&all.join("/")));
            continue;
        }
        let piece = rest.next()?;
        if wanted.starts_with('{') {
            found.insert(wanted, percent_decoded(piece));
        } else if wanted != piece {
            return None;
        }
    }
    let is_number = |text: &String| text.parse::<u64>().is_ok();
    let has_number = found.get("{number}").is_none_or(is_number);
    (rest.next().is_none() && has_number).then_some(found)
}

/// What is there and not published, or published as needed and not there.
fn misfit(published: &str, there: &[&str]) -> Option<String> {
    let known: Vec<_> = published.split_whitespace().collect();
    let is_known = |name: &str| {
        known
            .iter()
            .any(|known| known.trim_end_matches('*') == name)
    };
    let unknown = there.iter().find(|name| !is_known(name));
    let unknown = unknown.map(|name| format!("{name} is not known"));
    let mut needed = known.iter().filter(|name| !name.ends_with('*'));
    let missing = needed.find(|name| !there.contains(name));
    unknown.or_else(|| missing.map(|name| format!("{name} is missing")))
}

/// Whether the token came in a way that the forge takes.
pub(super) fn is_logged_in(style: ForgeStyle, asked: &HttpRequest, token: &str) -> bool {
    let given = asked
        .headers
        .get("authorization")
        .map_or("", String::as_str);
    let words = match style {
        ForgeStyle::GitLab => &["Bearer "][..],
        ForgeStyle::GitHub | ForgeStyle::Gitea => &["Bearer ", "token "][..],
    };
    let mut given = words.iter().filter_map(|word| given.strip_prefix(word));
    let private = asked.headers.get("private-token").map(String::as_str);
    given.any(|given| given == token) || (style == ForgeStyle::GitLab && private == Some(token))
}
