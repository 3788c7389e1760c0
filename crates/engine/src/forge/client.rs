//! Asks a forge by HTTP: one login for one server, no redirects, bounded answers.
//!
//! Knows what statuses mean on all forges; what is asked is the business of each of them.

use std::io::ErrorKind;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::de::DeserializeOwned;
use serde_json::Value;
use ureq::http::{HeaderMap, HeaderValue, Request};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, RequestExt};

use pleach_domain::choice::ForgeKind;
use pleach_git::git::{Login, plain_words, scrub};

use super::{ForgeError, ForgeProject, PullRequest};

const USER_AGENT: &str = concat!("pleach/", env!("CARGO_PKG_VERSION"));
const LARGEST_ANSWER: u64 = 1 << 20;
/// In letters.
const MOST_WORDS: usize = 300;
const CONNECT_WITHIN: Duration = Duration::from_secs(10);

pub(super) struct Client {
    agent: Agent,
    api: String,
    host: String,
    path: String,
    login: Login,
    kind: ForgeKind,
}

pub(super) struct Question<'q> {
    pub(super) doing: &'static str,
    pub(super) method: &'static str,
    /// The path below the beginning of the interface, and the query.
    pub(super) target: String,
    pub(super) body: Option<&'q Value>,
}

/// An answer that is for the asker to judge.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) has_more: bool,
    body: Vec<u8>,
}

impl Client {
    pub(super) fn new(project: &ForgeProject, login: Login, answer_within: Duration) -> Self {
        let is_local = project.server().protocol == "http" && project.server().is_private();
        let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier);
        let mut config = Agent::config_builder()
            .user_agent(USER_AGENT)
            .http_status_as_error(false)
            // The login would go to another server.
            .max_redirects(0)
            .https_only(project.server().protocol == "https")
            .tls_config(tls.build())
            // A connection that went away meanwhile would make an answer look lost.
            .max_idle_connections(0)
            .timeout_connect(Some(CONNECT_WITHIN.min(answer_within)))
            .timeout_global(Some(answer_within));
        if is_local {
            config = config.proxy(None);
        }
        Self {
            agent: config.build().new_agent(),
            api: project.api().to_owned(),
            host: project.host().to_owned(),
            path: project.path().to_owned(),
            login,
            kind: project.kind(),
        }
    }

    pub(super) fn host(&self) -> String {
        self.host.clone()
    }

    /// Asks once; what means the same on all forges is told apart here.
    pub(super) fn ask(&self, question: &Question<'_>) -> Result<Answer, ForgeError> {
        let unreachable = |error: ureq::Error| self.unreachable(&error);
        let request = self.request(question)?;
        let answered = request.with_agent(&self.agent).run();
        let mut answered = answered.map_err(unreachable)?;
        let body = answered.body_mut().with_config().limit(LARGEST_ANSWER);
        let body = body.read_to_vec().map_err(|error| match error {
            ureq::Error::BodyExceedsLimit(_) => self.garbled("the response is too long"),
            error => unreachable(error),
        })?;
        let headers = answered.headers();
        let link = header(headers, "link").unwrap_or_default();
        let answer = Answer {
            status: answered.status().as_u16(),
            has_more: link.contains("rel=\"next\""),
            body,
        };
        self.sort_out(question.doing, headers, answer)
    }

    fn request(&self, question: &Question<'_>) -> Result<Request<Vec<u8>>, ForgeError> {
        let token = self.login.password.reveal();
        let (word, accept) = match self.kind {
            ForgeKind::Gitea => ("token", "application/json"),
            ForgeKind::GitLab => ("Bearer", "application/json"),
            ForgeKind::GitHub | ForgeKind::None => ("Bearer", "application/vnd.github+json"),
        };
        let authorization = HeaderValue::from_str(&format!("{word} {token}"));
        let mut authorization = authorization.map_err(|_| self.login_rejected())?;
        authorization.set_sensitive(true);
        let mut request = Request::builder()
            .method(question.method)
            .uri(format!("{}{}", self.api, question.target))
            .header("accept", accept)
            .header("authorization", authorization);
        if self.kind == ForgeKind::GitHub {
            request = request.header("x-github-api-version", "2022-11-28");
        }
        let body = question.body.map(|body| body.to_string().into_bytes());
        if body.is_some() {
            request = request.header("content-type", "application/json");
        }
        let request = request.body(body.unwrap_or_default());
        request.map_err(|error| self.unreachable(&error.into()))
    }

    fn unreachable(&self, error: &ureq::Error) -> ForgeError {
        let (host, why) = (self.host(), self.words(&error.to_string()));
        // The library passes on what is wrong with a certificate as bad data.
        let is_untrusted = match error {
            ureq::Error::Io(error) => error.kind() == ErrorKind::InvalidData,
            ureq::Error::Tls(_) | ureq::Error::Rustls(_) => true,
            _ => false,
        };
        if is_untrusted {
            ForgeError::Untrusted { host, why }
        } else {
            ForgeError::Unreachable { host, why }
        }
    }

    fn sort_out(
        &self,
        doing: &'static str,
        headers: &HeaderMap,
        answer: Answer,
    ) -> Result<Answer, ForgeError> {
        match answer.status {
            300..=399 => {
                let to = header(headers, "location").unwrap_or("an unknown address");
                let to = to.split(['?', '#']).next().unwrap_or(to);
                let to = self.words(to);
                Err(ForgeError::Moved { to })
            }
            401 => Err(self.login_rejected()),
            403 | 429 if self.is_limit(headers, &answer) => Err(ForgeError::RateLimited {
                host: self.host(),
                until: limited_until(headers, SystemTime::now()),
            }),
            403 => Err(ForgeError::NoRights {
                host: self.host(),
                doing,
                from: self.login.from.clone(),
                words: self.words(&answer.message()),
            }),
            408 | 500.. => Err(ForgeError::OutOfOrder {
                host: self.host(),
                status: answer.status,
            }),
            _ => Ok(answer),
        }
    }

    fn is_limit(&self, headers: &HeaderMap, answer: &Answer) -> bool {
        let says = |name, value: &str| header(headers, name) == Some(value);
        answer.status == 429
            || headers.contains_key("retry-after")
            || says("x-ratelimit-remaining", "0")
            // GitHub has a second limit that it tells in words only.
            || (self.kind == ForgeKind::GitHub && answer.message().contains("rate limit"))
    }

    pub(super) fn read<T: DeserializeOwned>(
        &self,
        doing: &'static str,
        answer: &Answer,
    ) -> Result<T, ForgeError> {
        if !(200..300).contains(&answer.status) {
            return Err(self.refused(doing, answer));
        }
        let read = serde_json::from_slice(&answer.body);
        read.map_err(|error| self.garbled(&error.to_string()))
    }

    /// Takes a pull request from an answer, whose address people will click on.
    pub(super) fn pull_request(&self, number: u64, url: &str) -> Result<PullRequest, ForgeError> {
        let is_web = url.starts_with("https://") || url.starts_with("http://");
        let is_plain = url.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_web || !is_plain || number == 0 {
            return Err(self.garbled("it has no address of the pull request"));
        }
        let url = url.to_owned();
        Ok(PullRequest { number, url })
    }

    pub(super) fn refused(&self, doing: &'static str, answer: &Answer) -> ForgeError {
        if answer.status == 404 {
            return ForgeError::NotFound {
                host: self.host(),
                path: self.path.clone(),
                from: self.login.from.clone(),
            };
        }
        ForgeError::Refused {
            host: self.host(),
            doing,
            status: answer.status,
            words: self.words(&answer.message()),
        }
    }

    pub(super) fn garbled(&self, why: &str) -> ForgeError {
        ForgeError::Garbled {
            host: self.host(),
            why: self.words(why),
        }
    }

    fn login_rejected(&self) -> ForgeError {
        ForgeError::LoginRejected {
            host: self.host(),
            from: self.login.from.clone(),
        }
    }

    /// Words of others, short, printable and without the secret.
    fn words(&self, text: &str) -> String {
        let secret = self.login.password.reveal().to_owned();
        plain_words(&scrub(text, &[secret]), MOST_WORDS)
    }
}

impl Answer {
    pub(super) fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }

    /// What the forge says about it, in whichever of their ways.
    pub(super) fn message(&self) -> String {
        let Some(body) = self.json() else {
            return String::from_utf8_lossy(&self.body).into_owned();
        };
        let mut said = Vec::new();
        for key in ["message", "error", "error_description", "errors"] {
            collect(&body[key], &mut said);
        }
        said.join(", ")
    }
}

fn collect(value: &Value, said: &mut Vec<String>) {
    match value {
        Value::String(text) => said.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| collect(value, said)),
        Value::Object(fields) => fields.values().for_each(|value| collect(value, said)),
        Value::Null | Value::Bool(_) | Value::Number(_) => (),
    }
}

fn header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn limited_until(headers: &HeaderMap, now: SystemTime) -> Option<SystemTime> {
    let seconds = |name| header(headers, name)?.trim().parse().ok();
    // Somebody's mistake may be too large for a time.
    let after = seconds("retry-after").map(Duration::from_secs);
    if let Some(after) = after {
        return now.checked_add(after);
    }
    let reset = seconds("x-ratelimit-reset").or_else(|| seconds("ratelimit-reset"))?;
    UNIX_EPOCH.checked_add(Duration::from_secs(reset))
}
