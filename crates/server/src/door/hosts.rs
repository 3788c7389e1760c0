//! Under which names the server may be spoken to.
//!
//! A name that somebody else's DNS points here is not among them, whatever it resolves to.

use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};

use crate::answer::Refusal;

const LOOPBACK: [&str; 3] = ["127.0.0.1", "[::1]", "localhost"];

#[derive(Debug, Clone)]
pub(crate) struct Hosts {
    port: u16,
    /// Names that a proxy in front is known by, with or without a port, in lower case.
    further: Vec<String>,
}

impl Hosts {
    pub(crate) fn new(port: u16, further: &[String]) -> Self {
        Self {
            port,
            further: further.iter().map(|name| name.to_lowercase()).collect(),
        }
    }

    /// Refuses a request that is meant for another name.
    pub(super) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let host = host_of(headers);
        let named = uri.authority().map(axum::http::uri::Authority::as_str);
        let fits = |name: &str| self.knows(name);
        if host.is_some_and(fits) && named.is_none_or(fits) {
            return Ok(());
        }
        Err(Refusal::new(
            StatusCode::FORBIDDEN,
            "foreign_host",
            "unknown host name",
            "use the address that `pleach serve` prints; behind a proxy, start it with --allow-host",
        ))
    }

    fn knows(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        if self.further.contains(&name) {
            return true;
        }
        let (host, port) = match name.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()),
            _ => (name.as_str(), Some(80)),
        };
        LOOPBACK.contains(&host) && port == Some(self.port)
    }

    /// Whether an origin is the very server that the request is for.
    pub(super) fn is_own_origin(&self, origin: &HeaderValue, headers: &HeaderMap) -> bool {
        let origin = origin.to_str().unwrap_or_default();
        let (scheme, name) = origin.split_once("://").unwrap_or_default();
        let is_here = host_of(headers).is_some_and(|host| host.eq_ignore_ascii_case(name));
        // Only a proxy speaks TLS.
        let is_spoken = match scheme {
            "http" => true,
            "https" => self.further.contains(&name.to_lowercase()),
            _ => false,
        };
        is_here && is_spoken
    }
}

fn host_of(headers: &HeaderMap) -> Option<&str> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = hosts.next()?.to_str().ok()?;
    hosts.next().is_none().then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_with_our_port_and_those_allowed_are_known() {
        let hosts = Hosts::new(
            3001,
            &["Board.example:8443".to_owned(), "plain.example".to_owned()],
        );
        for name in [
            "127.0.0.1:3001",
            "[::1]:3001",
            "localhost:3001",
            "LOCALHOST:3001",
            "board.example:8443",
            "plain.example",
        ] {
            assert!(hosts.knows(name), "{name}");
        }
        for name in [
            "",
            "127.0.0.1",
            "127.0.0.1:3002",
            "127.0.0.1:",
            "127.0.0.1:03001x",
            "localhost",
            "[::1]",
            "::1:3001",
            "evil.example:3001",
            "127.0.0.1.evil.example:3001",
            "127.0.0.2:3001",
            "0.0.0.0:3001",
            "board.example",
            "plain.example:3001",
            "127.0.0.1:3001@evil.example",
            "localhost:3001:3001",
        ] {
            assert!(!hosts.knows(name), "{name}");
        }
        assert!(Hosts::new(80, &[]).knows("127.0.0.1"));
        assert!(Hosts::new(80, &[]).knows("[::1]"));
    }

    #[test]
    fn an_origin_is_own_only_for_the_host_it_asks() {
        let hosts = Hosts::new(3001, &["board.example".to_owned()]);
        let own = |origin: &str, host: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            hosts.is_own_origin(&origin.parse().unwrap(), &headers)
        };
        assert!(own("http://127.0.0.1:3001", "127.0.0.1:3001"));
        assert!(own("https://board.example", "board.example"));
        assert!(!own("https://127.0.0.1:3001", "127.0.0.1:3001"));
        assert!(!own("http://localhost:3001", "127.0.0.1:3001"));
        assert!(!own("null", "127.0.0.1:3001"));
        assert!(!own("http://127.0.0.1:3002", "127.0.0.1:3001"));
    }
}
