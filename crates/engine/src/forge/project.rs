//! Recognises the forge and the project on it by the address of a remote.
//!
//! Asks nobody: what a host is called decides, or what the user has configured.

use super::url::{escaped, escaped_path};
use pleach_domain::choice::ForgeKind;
use pleach_git::git::{Address, HttpHost, Login, Logins, Store, StoreError};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgeProject {
    kind: ForgeKind,
    /// Whom a login belongs to.
    server: HttpHost,
    api: String,
    web: String,
    path: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unrecognised {
    #[error("the forge kind is set to none")]
    SwitchedOff,
    /// It is a folder.
    #[error("the remote is a folder on this machine, not a forge")]
    NoServer,
    #[error("unknown forge kind of {host}")]
    UnknownHost { host: String },
    #[error("the remote's address does not name a project on {host}")]
    NoProject { host: String },
}

impl Unrecognised {
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownHost { .. } => Some(
                "set kind to github, gitlab, gitea or none under [forge] in pleach.toml".into(),
            ),
            Self::NoProject { .. } => {
                Some("an address looks like https://host/owner/name.git".into())
            }
            Self::SwitchedOff | Self::NoServer => None,
        }
    }
}

/// The project that an address leads to; `configured` is for servers whose name says nothing.
pub fn recognise(
    remote: &Address,
    configured: Option<ForgeKind>,
) -> Result<ForgeProject, Unrecognised> {
    if configured == Some(ForgeKind::None) {
        return Err(Unrecognised::SwitchedOff);
    }
    let mut server = remote.web_host().ok_or(Unrecognised::NoServer)?;
    // Ways in through ports that no firewall closes.
    match server.host.as_str() {
        "ssh.github.com" | "www.github.com" => "github.com".clone_into(&mut server.host),
        "altssh.gitlab.com" => "gitlab.com".clone_into(&mut server.host),
        _ => (),
    }
    let host = server.host.clone();
    let unknown = || Unrecognised::UnknownHost { host: host.clone() };
    let kind = configured.or_else(|| kind_by_name(&host));
    let kind = kind.ok_or_else(unknown)?;
    let nothing = || Unrecognised::NoProject { host: host.clone() };
    let whole = remote.path_on_server().ok_or_else(nothing)?;
    let (above, path) = split_path(kind, whole).ok_or_else(nothing)?;
    let origin = server.origin();
    let web = format!("{origin}{above}");
    let api = match kind {
        ForgeKind::GitHub | ForgeKind::None if host == "github.com" || is_ghe(&host) => {
            format!("{}://api.{host}", server.protocol)
        }
        ForgeKind::GitHub | ForgeKind::None => format!("{web}/api/v3"),
        ForgeKind::GitLab => format!("{web}/api/v4"),
        ForgeKind::Gitea => format!("{web}/api/v1"),
    };
    let path = path.to_owned();
    Ok(ForgeProject {
        kind,
        server,
        api,
        web,
        path,
    })
}

fn is_ghe(host: &str) -> bool {
    host.ends_with(".ghe.com")
}

fn kind_by_name(host: &str) -> Option<ForgeKind> {
    let named = [
        ("codeberg.org", ForgeKind::Gitea),
        ("gitlab", ForgeKind::GitLab),
        ("gitea", ForgeKind::Gitea),
        ("forgejo", ForgeKind::Gitea),
        ("github", ForgeKind::GitHub),
    ];
    let mut fitting = named.iter().filter(|(word, _)| host.contains(word));
    let found = fitting.next().map(|(_, kind)| *kind);
    found.or_else(|| is_ghe(host).then_some(ForgeKind::GitHub))
}

/// Takes a path apart into where the forge itself is, and the project.
fn split_path(kind: ForgeKind, whole: &str) -> Option<(String, &str)> {
    let pieces: Vec<_> = whole.split('/').collect();
    let is_clean = |piece: &&str| !piece.is_empty() && !matches!(*piece, "." | "..");
    if pieces.len() < 2 || !pieces.iter().all(is_clean) {
        return None;
    }
    match kind {
        // Projects are in groups of groups.
        ForgeKind::GitLab => Some((String::new(), whole)),
        // It may live below a folder of its server.
        ForgeKind::Gitea => {
            let name = pieces[pieces.len() - 2..].iter().map(|piece| piece.len());
            let start = whole.len() - name.sum::<usize>() - 1;
            let above = whole[..start].trim_end_matches('/');
            let slash = if above.is_empty() { "" } else { "/" };
            Some((format!("{slash}{above}"), &whole[start..]))
        }
        ForgeKind::GitHub | ForgeKind::None => (pieces.len() == 2).then(|| (String::new(), whole)),
    }
}

impl ForgeProject {
    /// The project that a store is pushed to.
    pub fn recognise(
        store: &Store,
        configured: Option<ForgeKind>,
    ) -> Result<Result<Self, Unrecognised>, StoreError> {
        let remote = store.remote_by_its_real_name()?;
        Ok(match remote {
            Some(remote) => recognise(&remote, configured),
            None => Err(Unrecognised::NoServer),
        })
    }

    pub fn kind(&self) -> ForgeKind {
        self.kind
    }

    /// The server's name, with its port where that is not the usual one.
    pub fn host(&self) -> &str {
        &self.server.host
    }

    pub fn api(&self) -> &str {
        &self.api
    }

    /// What people call the project: `owner/name`, or more pieces on GitLab.
    pub fn path(&self) -> &str {
        &self.path
    }

    pub fn url(&self) -> String {
        format!("{}/{}", self.web, escaped_path(&self.path))
    }

    pub fn login(&self, store: &Store, logins: &Logins) -> Result<Option<Login>, StoreError> {
        store.api_login(&self.server, logins)
    }

    /// The page on which a person opens the pull request by hand.
    pub fn compare_url(&self, base: &str, head: &str) -> String {
        let project = self.url();
        match self.kind {
            ForgeKind::GitLab => format!(
                "{project}/-/merge_requests/new?merge_request%5Bsource_branch%5D={}\
                 &merge_request%5Btarget_branch%5D={}",
                escaped(head),
                escaped(base)
            ),
            ForgeKind::Gitea => {
                let (base, head) = (escaped_path(base), escaped_path(head));
                format!("{project}/compare/{base}...{head}")
            }
            ForgeKind::GitHub | ForgeKind::None => {
                let (base, head) = (escaped_path(base), escaped_path(head));
                format!("{project}/compare/{base}...{head}?expand=1")
            }
        }
    }

    /// `owner` and `name`, where there are just these two.
    pub(super) fn owner(&self) -> &str {
        self.path.split('/').next().unwrap_or_default()
    }

    pub(super) fn server(&self) -> &HttpHost {
        &self.server
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recognised(
        address: &str,
        configured: Option<ForgeKind>,
    ) -> Result<ForgeProject, Unrecognised> {
        recognise(&Address::parse(address).unwrap().0, configured)
    }

    /// Each line: the address, what is recognised, and where the interface is.
    const NAMED: &str = "
        https://github.com/a/b.git               github a/b   https://api.github.com
        git@github.com:a/b.git                   github a/b   https://api.github.com
        ssh://git@ssh.github.com:443/a/b         github a/b   https://api.github.com
        https://ann@GitHub.com:443/A/b/          github A/b   https://api.github.com
        https://acme.ghe.com/a/b                 github a/b   https://api.acme.ghe.com
        git@github.acme.example:a/b              github a/b   https://github.acme.example/api/v3
        https://gitlab.com/a/b/c.git             gitlab a/b/c https://gitlab.com/api/v4
        ssh://git@altssh.gitlab.com:443/a/b      gitlab a/b   https://gitlab.com/api/v4
        https://gitlab.acme.example:8443/a/b     gitlab a/b   https://gitlab.acme.example:8443/api/v4
        ssh://git@gitlab.acme.example:2222/a/b   gitlab a/b   https://gitlab.acme.example/api/v4
        https://codeberg.org/a/b                 gitea  a/b   https://codeberg.org/api/v1
        git@gitea.com:a/b.git                    gitea  a/b   https://gitea.com/api/v1
        https://forgejo.acme.example/a/b         gitea  a/b   https://forgejo.acme.example/api/v1
        https://gitea.acme.example/sub/a/b       gitea  a/b   https://gitea.acme.example/sub/api/v1";

    #[test]
    fn forges_are_known_by_their_names() {
        for line in NAMED.trim().lines() {
            let words: Vec<_> = line.split_whitespace().collect();
            let project = recognised(words[0], None).unwrap();
            let found = [project.kind().word(), project.path(), project.api()];
            assert_eq!(found, words[1..], "{line}");
        }
    }

    #[test]
    fn other_forges_are_known_when_the_user_says_so() {
        use ForgeKind::{GitHub, GitLab, Gitea};
        for (address, kind, api) in [
            (
                "git@code.example:a/b",
                GitHub,
                "https://code.example/api/v3",
            ),
            (
                "git@code.example:a/b/c",
                GitLab,
                "https://code.example/api/v4",
            ),
            (
                "http://127.0.0.1:81/a/b",
                Gitea,
                "http://127.0.0.1:81/api/v1",
            ),
            (
                "http://127.0.0.1:81/a/b",
                GitHub,
                "http://127.0.0.1:81/api/v3",
            ),
        ] {
            assert_eq!(
                recognised(address, Some(kind)).unwrap().api(),
                api,
                "{address}"
            );
        }
    }

    #[test]
    fn what_is_no_forge_says_why() {
        let why = |address: &str, configured| recognised(address, configured).unwrap_err();
        let host = || "code.example".to_owned();
        assert_eq!(
            why("git@code.example:a/b", None),
            Unrecognised::UnknownHost { host: host() }
        );
        assert!(
            why("git@code.example:a/b", None)
                .hint()
                .unwrap()
                .contains("pleach.toml")
        );
        for path in ["/srv/a/b.git", "file:///srv/a/b.git", "../b"] {
            assert_eq!(
                why(path, Some(ForgeKind::GitHub)),
                Unrecognised::NoServer,
                "{path}"
            );
        }
        let off = why("https://github.com/a/b", Some(ForgeKind::None));
        assert_eq!(off, Unrecognised::SwitchedOff);
        for path in ["a", "a/b/c", "a/..", "a//b", ""] {
            let error = why(
                &format!("https://code.example/{path}"),
                Some(ForgeKind::GitHub),
            );
            assert_eq!(error, Unrecognised::NoProject { host: host() }, "{path}");
        }
    }

    #[test]
    fn a_person_finds_the_page_to_open_one_by_hand() {
        let page = |address: &str| {
            recognised(address, None)
                .unwrap()
                .compare_url("release/1", "p/b#1")
        };
        assert_eq!(
            page("git@github.com:a/b.git"),
            "https://github.com/a/b/compare/release/1...p/b%231?expand=1"
        );
        assert_eq!(
            page("https://codeberg.org/a/b"),
            "https://codeberg.org/a/b/compare/release/1...p/b%231"
        );
        assert_eq!(
            page("https://gitlab.com/a/b/c"),
            "https://gitlab.com/a/b/c/-/merge_requests/new?merge_request%5Bsource_branch%5D=p%2Fb%231\
             &merge_request%5Btarget_branch%5D=release%2F1"
        );
    }
}
