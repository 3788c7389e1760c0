//! Who gets in: looks at every request before anything else does, in a fixed order.
//!
//! Host, then token, then where the request comes from. Knows nothing of what is behind it.

mod hosts;
mod links;
pub(crate) mod opener;
mod pass;
pub(crate) mod proof;
pub(crate) mod token;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

pub(crate) use hosts::Hosts;
pub(crate) use links::Links;

use self::pass::Passes;
use self::token::Token;
use crate::answer::Refusal;
use crate::connections::ConnectionAuth;
use crate::input::{LARGEST_BODY, too_large};

const SEC_FETCH_SITE: &str = "sec-fetch-site";
const SEC_FETCH_MODE: &str = "sec-fetch-mode";

/// The longest head of a request, with its first line and all headers.
const LONGEST_HEAD: usize = 64 << 10;

/// What the server knows of those who may enter.
#[derive(Debug)]
pub(crate) struct Door {
    pub(crate) hosts: Hosts,
    pub(crate) links: Links,
    token: Token,
    passes: Passes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathAccess {
    /// Pages and signs of life, which tell nothing.
    Open,
    /// What leads to a pass or a token, and asks for neither.
    Entry,
    Closed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Credential {
    /// A program, by the token itself.
    Token,
    /// A browser, by the pass it got for a link.
    Pass,
}

impl Door {
    pub(crate) fn new(token: Token, hosts: Hosts) -> Self {
        Self {
            passes: Passes::new(),
            links: Links::default(),
            hosts,
            token,
        }
    }

    /// What a browser keeps once it came by a link that was not used before.
    pub(crate) fn exchange(&self, code: &str) -> Option<String> {
        self.links.redeem(code).then(|| self.passes.issue())
    }

    /// What proves to the other end of a connection that the token is known here.
    pub(crate) fn prove(&self, nonce: &str, address: SocketAddr) -> String {
        proof::prove(&self.token, nonce, address)
    }

    fn authorize(&self, request: &Request) -> Result<(), Refusal> {
        let headers = request.headers();
        check_head(request)?;
        self.hosts.check(request.uri(), headers)?;
        let ward = path_access(request.uri().path());
        let shown = self.who(headers);
        if shown.is_some()
            && let Some(introduction) = request.extensions().get::<ConnectionAuth>()
        {
            introduction.is_known();
        }
        if ward == PathAccess::Closed && shown.is_none() {
            return Err(unknown());
        }
        self.check_origin(request.method(), headers, ward, shown)?;
        check_length(headers)
    }

    fn who(&self, headers: &HeaderMap) -> Option<Credential> {
        let mut given = headers.get_all(header::AUTHORIZATION).iter();
        let word = bearer(given.next()?)?;
        // Two of them are a riddle.
        if given.next().is_some() {
            return None;
        }
        if self.token.is(word) {
            return Some(Credential::Token);
        }
        self.passes.is_one(word).then_some(Credential::Pass)
    }

    /// A page of somebody else may neither act nor read.
    fn check_origin(
        &self,
        method: &Method,
        headers: &HeaderMap,
        ward: PathAccess,
        shown: Option<Credential>,
    ) -> Result<(), Refusal> {
        let header = |name: &str| headers.get(name).map(HeaderValue::as_bytes);
        let is_page = ward == PathAccess::Open
            && *method == Method::GET
            && header(SEC_FETCH_MODE) == Some(b"navigate");
        let is_foreign = matches!(
            header(SEC_FETCH_SITE),
            Some(site) if !matches!(site, b"same-origin" | b"none")
        );
        if is_foreign && !is_page {
            return Err(foreign("another site"));
        }
        let mut origins = headers.get_all(header::ORIGIN).iter();
        let is_safe = matches!(*method, Method::GET | Method::HEAD);
        match (origins.next(), origins.next()) {
            (Some(origin), None) if self.hosts.is_own_origin(origin, headers) => Ok(()),
            (Some(_), _) => Err(foreign("another origin")),
            (None, _) if is_safe || shown == Some(Credential::Token) => Ok(()),
            // Browsers always say where such a request comes from.
            (None, _) => Err(foreign("an unknown origin")),
        }
    }
}

fn bearer(authorization: &HeaderValue) -> Option<&[u8]> {
    let (scheme, word) = authorization.as_bytes().split_at_checked(7)?;
    let is_bearer = scheme.eq_ignore_ascii_case(b"bearer ");
    is_bearer.then(|| word.trim_ascii())
}

fn path_access(path: &str) -> PathAccess {
    match path {
        // A page that tells nothing by itself, which browsers ask for without a pass.
        "/api/docs" => PathAccess::Open,
        "/api/enter" | "/api/proof" => PathAccess::Entry,
        "/metrics" => PathAccess::Closed,
        _ if path == "/api" || path.starts_with("/api/") => PathAccess::Closed,
        _ => PathAccess::Open,
    }
}

/// The length of a head as it was sent, give or take spaces.
fn check_head(request: &Request) -> Result<(), Refusal> {
    let line = request.method().as_str().len() + request.uri().to_string().len();
    let headers = request.headers().iter();
    let headers: usize = headers
        .map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len())
        .sum();
    if line + "  HTTP/1.1\r\n\r\n".len() + headers <= LONGEST_HEAD {
        return Ok(());
    }
    Err(Refusal::new(
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
        "head_too_large",
        "the request's headers exceed 64 KiB",
        "send long values in the body",
    ))
}

/// A body that is too large is refused by its announcement, before anybody reads it.
fn check_length(headers: &HeaderMap) -> Result<(), Refusal> {
    let length = headers.get(header::CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    match length {
        Some(length) if length > LARGEST_BODY => Err(too_large()),
        _ => Ok(()),
    }
}

fn unknown() -> Refusal {
    Refusal::new(
        StatusCode::UNAUTHORIZED,
        "no_token",
        "authentication required",
        "programs send `Authorization: Bearer` with the content of the file `token` in Pleach's state folder; browsers \
         open the link that `pleach serve` prints",
    )
}

fn foreign(from: &str) -> Refusal {
    Refusal::new(
        StatusCode::FORBIDDEN,
        "foreign_origin",
        format!("requests from {from} are refused"),
        "use the address that `pleach serve` prints",
    )
}

/// Looks at a request, lets it pass or not, and has every answer say how browsers are to treat it.
pub(crate) async fn stand_at(
    State(door): State<Arc<Door>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match door.authorize(&request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in ALWAYS_SAID {
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

const ALWAYS_SAID: [(&str, &str); 6] = [
    (
        "content-security-policy",
        // What floats on the board is placed by styles of its own.
        "default-src 'self'; style-src 'self' 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_word_behind_bearer_counts() {
        let word = |text: &str| {
            let header = HeaderValue::from_str(text).unwrap();
            bearer(&header).map(<[u8]>::to_vec)
        };
        assert_eq!(word("Bearer x"), Some(b"x".to_vec()));
        assert_eq!(word("bearer  x "), Some(b"x".to_vec()));
        for none in ["x", "Bearer", "Basic eDp5", ""] {
            assert_eq!(word(none), None, "{none}");
        }
    }
}
