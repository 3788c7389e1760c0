//! Addresses of repositories, taken apart so that a login in one is never kept with it.
//!
//! Knows nothing of whether anything is there.

use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;

use super::credentials::Secret;

/// Why a text is no address of a repository; never repeats it, because it may hold a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadAddress {
    #[error("the address is empty")]
    Empty,
    /// It could be taken for an option or for two lines.
    #[error("the address begins with a dash or contains control characters")]
    Unprintable,
    /// It runs a program instead of naming a place.
    #[error("the address names a program to run, which is not allowed")]
    Program,
    /// Programs would take the host, or who logs in there, for an option.
    #[error("the host in the address begins with a dash")]
    Dash,
    /// It has no host or an impossible port.
    #[error("the host in the address is not valid")]
    Host,
}

/// Where a repository is, without any login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    text: String,
    way: Transport,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Transport {
    Http(HttpHost),
    Ssh { host: String },
    Other,
}

/// A server that is spoken to by HTTP: what a login is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpHost {
    pub protocol: &'static str,
    /// In lower case, with its port where that is not the usual one.
    pub host: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserInfo {
    /// Some servers take a token as the name.
    pub(crate) user: Option<Secret>,
    pub(crate) password: Option<Secret>,
}

impl Address {
    /// Takes an address apart into the place and the login that was written into it.
    pub fn parse(text: &str) -> Result<(Self, UserInfo), BadAddress> {
        let text = text.trim();
        if text.is_empty() {
            return Err(BadAddress::Empty);
        }
        if text.starts_with('-') || text.chars().any(char::is_control) {
            return Err(BadAddress::Unprintable);
        }
        if let Some((scheme, rest)) = text.split_once("://") {
            if scheme.contains("::") {
                return Err(BadAddress::Program);
            }
            return Self::of_url(&scheme.to_ascii_lowercase(), rest);
        }
        if text.split('/').next().is_some_and(|w| w.contains("::")) {
            return Err(BadAddress::Program);
        }
        let way = match text.split_once(':') {
            // Git takes it for a host unless a slash comes first.
            Some((host, _)) if !host.contains('/') => {
                let name = host.rsplit('@').next().unwrap_or(host).to_owned();
                refuse_dash([host, &name])?;
                Transport::Ssh { host: name }
            }
            _ => Transport::Other,
        };
        let text = text.to_owned();
        Ok((Self { text, way }, UserInfo::default()))
    }

    fn of_url(scheme: &str, rest: &str) -> Result<(Self, UserInfo), BadAddress> {
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let (login, host) = match authority.rsplit_once('@') {
            Some((login, host)) => (Some(login), host),
            None => (None, authority),
        };
        let info = login.map(user_info).unwrap_or_default();
        let (user, way) = match scheme {
            "https" | "http" => {
                let protocol = if scheme == "https" { "https" } else { "http" };
                let host = plain_host(protocol, host)?;
                (None, Transport::Http(HttpHost { protocol, host }))
            }
            "ssh" | "git+ssh" | "ssh+git" => {
                refuse_dash([authority, host])?;
                let host = host.to_ascii_lowercase();
                (info.user.clone(), Transport::Ssh { host })
            }
            _ => (None, Transport::Other),
        };
        let host = match &way {
            Transport::Http(known) => &known.host,
            _ => host,
        };
        let user = user.map(|user| format!("{}@", user.reveal()));
        let user = user.unwrap_or_default();
        let text = format!("{scheme}://{user}{host}{path}");
        Ok((Self { text, way }, info))
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The folder that git takes it for, if it is one of this machine.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        let path = match self.text.split_once("://") {
            Some(("file", path)) => percent_decoded(path),
            Some(_) => return None,
            None if self.is_ssh() => return None,
            None => self.text.clone(),
        };
        let spellings = [path.clone(), format!("{path}.git")];
        let mut folders = spellings.iter().map(|path| Path::new(path).canonicalize());
        folders
            .find_map(Result::ok)
            .filter(|folder| folder.is_dir())
    }

    pub fn host(&self) -> Option<&str> {
        match &self.way {
            Transport::Http(server) => Some(&server.host),
            Transport::Ssh { host } => Some(host),
            Transport::Other => None,
        }
    }

    pub fn http_host(&self) -> Option<&HttpHost> {
        match &self.way {
            Transport::Http(server) => Some(server),
            _ => None,
        }
    }

    pub fn is_ssh(&self) -> bool {
        matches!(self.way, Transport::Ssh { .. })
    }

    /// Where a browser and programs would find this server: the same by HTTP, the usual way by ssh.
    pub fn web_host(&self) -> Option<HttpHost> {
        match &self.way {
            Transport::Http(server) => Some(server.clone()),
            Transport::Ssh { host } => {
                let plain = plain_host("https", host).ok()?;
                // The port is that of ssh.
                let name = match plain.rsplit_once(':') {
                    Some((name, port)) if !port.ends_with(']') => name,
                    _ => &plain,
                };
                Some(HttpHost {
                    protocol: "https",
                    host: name.to_owned(),
                })
            }
            Transport::Other => None,
        }
    }

    /// The place on its server, without what git does not need: `owner/name`.
    pub fn path_on_server(&self) -> Option<&str> {
        let path = match (&self.way, self.text.split_once("://")) {
            (Transport::Other, _) => return None,
            (_, Some((_, rest))) => rest.split_once('/')?.1,
            (_, None) => self.text.split_once(':')?.1,
        };
        let path = path.split(['?', '#']).next().unwrap_or(path);
        let path = path.trim_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path);
        Some(path.trim_end_matches('/')).filter(|path| !path.is_empty())
    }

    /// The same place on a server whose name the user has shortened.
    pub(crate) fn on_host(mut self, real: &str) -> Self {
        if let Transport::Ssh { host } = &mut self.way {
            real.clone_into(host);
        }
        self
    }

    /// The same place, for somebody who stands elsewhere.
    pub(crate) fn seen_from(mut self, folder: &Path) -> Self {
        let is_path = self.way == Transport::Other && !self.text.contains("://");
        if is_path && let Some(text) = folder.join(&self.text).to_str() {
            text.clone_into(&mut self.text);
        }
        self
    }

    /// The last piece of the path: what people call the repository.
    pub fn name(&self) -> PathBuf {
        let trimmed = self.text.trim_end_matches('/');
        let last = trimmed.rsplit(['/', ':']).next().unwrap_or(trimmed);
        PathBuf::from(last)
    }
}

impl HttpHost {
    /// Whether nobody on the way can read along.
    pub fn is_private(&self) -> bool {
        let name = match self.host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
            _ => &self.host,
        };
        self.protocol == "https" || matches!(name, "localhost" | "127.0.0.1" | "[::1]")
    }

    /// As a login is bound to it: `https://host:8443`.
    pub fn origin(&self) -> String {
        format!("{}://{}", self.protocol, self.host)
    }
}

fn user_info(text: &str) -> UserInfo {
    let (user, password) = match text.split_once(':') {
        Some((user, password)) => (user, Some(password)),
        None => (text, None),
    };
    let decoded = |text: &str| Some(percent_decoded(text)).filter(|text| !text.is_empty());
    UserInfo {
        user: decoded(user).map(Secret::new),
        password: password.and_then(decoded).map(Secret::new),
    }
}

/// Git decodes what is percent-encoded before it hands it to other programs.
fn refuse_dash(words: [&str; 2]) -> Result<(), BadAddress> {
    let is_option =
        |word: &&str| word.starts_with('-') || word.starts_with("%2d") || word.starts_with("%2D");
    if words.iter().any(is_option) {
        return Err(BadAddress::Dash);
    }
    Ok(())
}

/// Lower-case and without the port that everybody uses.
fn plain_host(protocol: &str, host: &str) -> Result<String, BadAddress> {
    let host = host.to_ascii_lowercase();
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, port),
        _ => (host.as_str(), ""),
    };
    let usual = if protocol == "https" { "443" } else { "80" };
    refuse_dash([name, name])?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c) || !c.is_ascii();
    let is_named = !name.is_empty() && name.chars().all(is_part);
    match port {
        _ if !is_named => Err(BadAddress::Host),
        "" => Ok(name.to_owned()),
        port if port == usual => Ok(name.to_owned()),
        port if port.parse::<u16>().is_ok() => Ok(format!("{name}:{port}")),
        _ => Err(BadAddress::Host),
    }
}

fn percent_decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (Address, UserInfo) {
        Address::parse(text).unwrap()
    }

    #[test]
    fn a_login_is_split_off_and_decoded() {
        let (address, info) = parsed("https://Ann:p%40ss@Git.Example.com:443/a/b.git");
        assert_eq!(address.as_str(), "https://git.example.com/a/b.git");
        assert_eq!(info.user.unwrap().reveal(), "Ann");
        assert_eq!(info.password.unwrap().reveal(), "p@ss");
        let (address, info) = parsed("http://t0ken@127.0.0.1:8080/x");
        assert_eq!(address.as_str(), "http://127.0.0.1:8080/x");
        assert!(!format!("{info:?}").contains("t0ken"));
        assert_eq!(info.user.unwrap().reveal(), "t0ken");
        assert_eq!(info.password, None);
        let (address, _) = parsed("ssh://git:pw@host:22/x.git");
        assert_eq!(address.as_str(), "ssh://git@host:22/x.git");
    }

    #[test]
    fn hosts_are_known_however_they_are_written() {
        let host = |text: &str| parsed(text).0.host().map(str::to_owned);
        assert_eq!(
            host("git@github.com:a/b.git").as_deref(),
            Some("github.com")
        );
        assert_eq!(host("https://[::1]:80/a").as_deref(), Some("[::1]:80"));
        assert_eq!(host("/srv/git/a:b"), None);
        assert_eq!(host("../sibling"), None);
        assert_eq!(host("file:///srv/a"), None);
    }

    #[test]
    fn what_could_be_more_than_a_place_is_refused() {
        let refused = |text: &str| Address::parse(text).unwrap_err();
        assert_eq!(refused(" "), BadAddress::Empty);
        assert_eq!(refused("--upload-pack=x"), BadAddress::Unprintable);
        assert_eq!(refused("https://a/\nhost=b"), BadAddress::Unprintable);
        assert_eq!(refused("ext::sh -c x"), BadAddress::Program);
        assert_eq!(refused("https::http://a/"), BadAddress::Program);
        for dash in [
            "ssh://-oProxyCommand=x/y",
            "ssh://%2DoProxyCommand=x/y",
            "ssh://git@-x/y",
            "ssh://-l@host/y",
            "git@-x:y",
            "https://-x.example/y",
        ] {
            assert_eq!(refused(dash), BadAddress::Dash, "{dash}");
        }
        assert_eq!(refused("https://a;id/x"), BadAddress::Host);
        assert_eq!(refused("https:///x"), BadAddress::Host);
        assert_eq!(refused("https://u:p/w@host/x"), BadAddress::Host);
    }

    #[test]
    fn paths_are_made_whole_and_others_left_alone() {
        let from = |text: &str| parsed(text).0.seen_from(Path::new("/home/a"));
        assert_eq!(from("../up").as_str(), "/home/a/../up");
        assert_eq!(from("/srv/up").as_str(), "/srv/up");
        assert_eq!(from("host:up").as_str(), "host:up");
    }

    #[test]
    fn the_place_on_a_server_is_known_however_it_is_written() {
        let place = |text: &str| {
            let address = parsed(text).0;
            let web = address.web_host().map(|web| web.origin());
            (web, address.path_on_server().map(str::to_owned))
        };
        for (text, web, path) in [
            ("https://h.example/a/b.git", "https://h.example", "a/b"),
            ("http://127.0.0.1:81/a/b/", "http://127.0.0.1:81", "a/b"),
            ("https://h.example/a/b/c?x#y", "https://h.example", "a/b/c"),
            ("git@H.example:a/b.git/", "https://h.example", "a/b"),
            ("git@h.example:/a/b", "https://h.example", "a/b"),
            ("ssh://git@h.example:22/a/b.git", "https://h.example", "a/b"),
            ("ssh://git@[::1]:22/a/b", "https://[::1]", "a/b"),
        ] {
            let expected = (Some(web.to_owned()), Some(path.to_owned()));
            assert_eq!(place(text), expected, "{text}");
        }
        for text in ["/srv/a/b.git", "file:///srv/a/b.git", "../b"] {
            assert_eq!(place(text), (None, None), "{text}");
        }
        assert_eq!(place("https://h.example/").1, None);
    }

    #[test]
    fn only_encrypted_or_local_ways_are_private() {
        let private = |text: &str| parsed(text).0.http_host().unwrap().is_private();
        assert!(private("https://example.com/"));
        assert!(private("http://127.0.0.1:8080/"));
        assert!(private("http://[::1]:8080/"));
        assert!(!private("http://example.com/"));
        assert!(!private("http://localhost.example.com/"));
    }
}
