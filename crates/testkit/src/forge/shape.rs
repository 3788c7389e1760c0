//! Answers in the shapes that the forges publish.
//!
//! Knows nothing of what led to them.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::state::Opened;
use super::{ForgeFault, ForgeStyle};
use crate::http::Reply;

pub(super) fn answer(status: u16, headers: &[(&str, String)], body: &Value) -> Reply {
    raw(status, headers, "application/json", &body.to_string())
}

fn raw(status: u16, headers: &[(&str, String)], kind: &str, body: &str) -> Reply {
    let headers = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"));
    let headers: String = headers.collect();
    let length = body.len();
    let text = format!(
        "HTTP/1.1 {status} Whatever\r\nContent-Type: {kind}\r\n{headers}Content-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    );
    Reply::Bytes(text.into_bytes())
}

pub(super) fn error(status: u16, words: &str) -> Reply {
    answer(status, &[], &json!({ "message": words }))
}

pub(super) fn not_found(style: ForgeStyle) -> Reply {
    match style {
        ForgeStyle::GitHub => answer(
            404,
            &[],
            &json!({ "message": "Not Found", "documentation_url": "https://docs.github.com/rest", "status": "404" }),
        ),
        ForgeStyle::GitLab => error(404, "404 Project Not Found"),
        ForgeStyle::Gitea => answer(
            404,
            &[],
            &json!({ "errors": [], "message": "The target couldn't be found.", "url": "http://x/api/swagger" }),
        ),
    }
}

/// What GitHub says of a request that makes no sense.
pub(super) fn invalid(errors: &Value) -> Reply {
    let body = json!({
        "message": "Validation Failed",
        "errors": errors,
        "documentation_url": "https://docs.github.com/rest/pulls/pulls#create-a-pull-request",
        "status": "422",
    });
    answer(422, &[], &body)
}

/// Something that goes wrong, in the words of the forge.
pub(super) fn fault(style: ForgeStyle, fault: &ForgeFault, token: &str) -> Reply {
    match fault {
        ForgeFault::Cut => Reply::Cut,
        ForgeFault::Silence => Reply::Silence,
        ForgeFault::Status(status) => {
            let words =
                format!("something about https://ann:{token}@host/ and {token}\u{1b}[31m\n");
            error(*status, &words)
        }
        ForgeFault::BadLogin => match style {
            ForgeStyle::GitHub => error(401, "Bad credentials"),
            ForgeStyle::GitLab => error(401, "401 Unauthorized"),
            ForgeStyle::Gitea => error(401, "token is required"),
        },
        ForgeFault::NoRights => match style {
            ForgeStyle::GitHub => error(403, "Resource not accessible by personal access token"),
            ForgeStyle::GitLab => {
                let words =
                    "The request requires higher privileges than provided by the access token.";
                let body = json!({ "error": "insufficient_scope", "error_description": words, "scope": "api" });
                answer(403, &[], &body)
            }
            ForgeStyle::Gitea => {
                error(403, "token does not have at least one of required scope(s)")
            }
        },
        ForgeFault::RateLimited(seconds) => rate_limited(style, *seconds),
        ForgeFault::Throttled(seconds) => {
            let status = if style == ForgeStyle::GitHub {
                403
            } else {
                429
            };
            let body = json!({ "message": "You have exceeded a secondary rate limit." });
            answer(status, &[("Retry-After", seconds.to_string())], &body)
        }
        ForgeFault::Garbage => raw(
            200,
            &[],
            "text/html",
            "<html>Please log in to the hotel's network</html>",
        ),
        ForgeFault::MovedTo(place) => answer(
            301,
            &[("Location", place.clone())],
            &json!({ "message": "Moved Permanently", "url": place }),
        ),
    }
}

fn rate_limited(style: ForgeStyle, seconds: u64) -> Reply {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let reset = now.expect("it is after 1970").as_secs() + seconds;
    match style {
        ForgeStyle::GitHub => {
            let headers = [
                ("X-RateLimit-Limit", "5000".to_owned()),
                ("X-RateLimit-Remaining", "0".to_owned()),
                ("X-RateLimit-Reset", reset.to_string()),
            ];
            let body =
                json!({ "message": "API rate limit exceeded for user ID 1.", "status": "403" });
            answer(403, &headers, &body)
        }
        ForgeStyle::GitLab | ForgeStyle::Gitea => {
            let headers = [
                ("RateLimit-Remaining", "0".to_owned()),
                ("RateLimit-Reset", reset.to_string()),
            ];
            raw(429, &headers, "text/plain", "Retry later\n")
        }
    }
}

/// A pull request as the forge tells it; `own` is the number of its project.
pub(super) fn pull_request(style: ForgeStyle, web: &str, own: u64, opened: &Opened) -> Value {
    let number = opened.number;
    let from = opened.fork.unwrap_or(own);
    if style == ForgeStyle::GitLab {
        return json!({
            "id": 1000 + number,
            "iid": number,
            "project_id": own,
            "title": opened.title,
            "description": opened.body,
            "state": if opened.is_open { "opened" } else { "closed" },
            "source_branch": opened.head,
            "target_branch": opened.base,
            "source_project_id": from,
            "target_project_id": own,
            "draft": false,
            "web_url": format!("{web}/{}/-/merge_requests/{number}", opened.project),
        });
    }
    let side = |branch: &str, id: u64| {
        json!({
            "label": branch,
            "ref": branch,
            "sha": "0".repeat(40),
            "repo": { "id": id, "full_name": opened.project },
        })
    };
    let page = match style {
        ForgeStyle::Gitea => "pulls",
        ForgeStyle::GitHub | ForgeStyle::GitLab => "pull",
    };
    json!({
        "id": 1000 + number,
        "number": number,
        "state": if opened.is_open { "open" } else { "closed" },
        "title": opened.title,
        "body": opened.body,
        "html_url": format!("{web}/{}/{page}/{number}", opened.project),
        "url": format!("{web}/api/{number}"),
        "draft": false,
        "head": side(&opened.head, from),
        "base": side(&opened.base, own),
    })
}
