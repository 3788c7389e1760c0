//! Where a login for a server is looked for: the environment, the tools of forges, git's own helpers.
//!
//! Knows nothing of repositories; a login is bound to one server and is never written anywhere.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::address::{HttpHost, UserInfo};
use super::{Call, find_program};

/// How long the tool of a forge may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Servers take any name beside a token but none at all; the tools of two forges use these.
const TOKEN_USER: &str = "x-access-token";
const GITLAB_USER: &str = "oauth2";

/// The token that is meant for Pleach, and the server that it is for.
const OUR_TOKEN: &str = "PLEACH_GIT_TOKEN";
const OUR_HOST: &str = "PLEACH_GIT_HOST";

/// A server that is nowhere: who has a token for it has one for any.
const NO_SERVER: &str = "nowhere.invalid";

/// A lone name in an address that is longer than people's names is a token.
const SHORTEST_TOKEN: usize = 20;

/// Would make the tool of a forge hand out one server's token for another server.
const TOKENS: [&str; 9] = [
    "GH_TOKEN",
    "GITHUB_TOKEN",
    "GH_ENTERPRISE_TOKEN",
    "GITHUB_ENTERPRISE_TOKEN",
    "GITLAB_TOKEN",
    "GITLAB_ACCESS_TOKEN",
    "OAUTH_TOKEN",
    "GITEA_TOKEN",
    "FORGEJO_TOKEN",
];

/// A text that is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub(crate) fn new(text: String) -> Self {
        Self(text)
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

/// A login for one server, which prints none of its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    pub(crate) user: Secret,
    pub password: Secret,
    /// Where it was found, as the user would name it.
    pub from: String,
}

#[derive(Clone)]
pub struct Logins {
    /// Our own program, which hands the login to git.
    pub(crate) program: PathBuf,
    variables: HashMap<String, String>,
}

/// Without the variables, whose values are secrets.
impl fmt::Debug for Logins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Logins").field(&self.program).finish()
    }
}

impl Logins {
    /// The user's own, with `program` being Pleach itself.
    pub fn of_user(program: &Path) -> Self {
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        Self::new(program, variables)
    }

    /// Those that certain variables know of, `PATH` among them.
    pub fn new(program: &Path, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self {
            program: program.to_owned(),
            variables: variables.into_iter().collect(),
        }
    }

    /// The login for a server, if anybody but git itself knows one.
    pub fn find(&self, server: &HttpHost, written: &UserInfo) -> Option<Login> {
        if let Some(password) = &written.password {
            return Some(written_login(written.user.as_ref(), password));
        }
        let is_token = |name: &&Secret| name.reveal().len() >= SHORTEST_TOKEN;
        if let Some(token) = written.user.as_ref().filter(is_token) {
            return Some(written_login(None, token));
        }
        // Whoever can read along would have the token.
        if !server.is_private() {
            return None;
        }
        let mut login = self.in_environment(&server.host);
        login = login.or_else(|| self.of_tool(&server.host));
        if let (Some(login), Some(user)) = (&mut login, &written.user) {
            login.user = user.clone();
        }
        login
    }

    fn in_environment(&self, host: &str) -> Option<Login> {
        // A token of which nobody says whose it is would go to whatever server a repository names.
        let of_pleach = self.host_in(OUR_HOST).is_some_and(|set| set == host);
        let github = host == "github.com" || host.ends_with(".ghe.com");
        let enterprise = !github && self.host_in("GH_HOST").is_some_and(|set| set == host);
        let is_at = |variable: &str, usual: &str| {
            self.host_in(variable).unwrap_or_else(|| usual.to_owned()) == host
        };
        let sources = [
            (of_pleach, OUR_TOKEN, TOKEN_USER),
            (github, "GH_TOKEN", TOKEN_USER),
            (github, "GITHUB_TOKEN", TOKEN_USER),
            (enterprise, "GH_ENTERPRISE_TOKEN", TOKEN_USER),
            (enterprise, "GITHUB_ENTERPRISE_TOKEN", TOKEN_USER),
            (
                is_at("GITLAB_HOST", "gitlab.com"),
                "GITLAB_TOKEN",
                GITLAB_USER,
            ),
            (is_at("GITEA_HOST", "gitea.com"), "GITEA_TOKEN", TOKEN_USER),
            (
                is_at("FORGEJO_HOST", "codeberg.org"),
                "FORGEJO_TOKEN",
                TOKEN_USER,
            ),
        ];
        let meant = sources.iter().filter(|(is_meant, ..)| *is_meant);
        let mut found = meant.filter_map(|(_, name, user)| {
            self.variable(name).map(|token| Login {
                user: Secret::new((*user).to_owned()),
                password: Secret::new(token.to_owned()),
                from: (*name).to_owned(),
            })
        });
        found.next()
    }

    fn of_tool(&self, host: &str) -> Option<Login> {
        let gh = (host != "gitlab.com").then_some(TokenCommand {
            name: "gh",
            words: &["auth", "token", "--hostname"],
            user: TOKEN_USER,
        });
        let glab = (host != "github.com").then_some(TokenCommand {
            name: "glab",
            words: &["config", "get", "token", "--host"],
            user: GITLAB_USER,
        });
        let mut tools = [gh, glab].into_iter().flatten();
        tools.find_map(|tool| {
            let login = self.ask(&tool, host)?;
            // A token that is set for all servers is not one of this server.
            let is_for_all = self.ask(&tool, NO_SERVER).as_ref() == Some(&login);
            (!is_for_all).then_some(login)
        })
    }

    fn ask(&self, tool: &TokenCommand, host: &str) -> Option<Login> {
        let program = find_program(self.variable("PATH")?.as_ref(), tool.name)?;
        let mut call = Call::of(&program)
            .withhold(&TOKENS)
            .env("GH_PROMPT_DISABLED", "1")
            .env("NO_PROMPT", "1")
            .deadline(PATIENCE)
            .args(tool.words)
            .arg(host);
        for name in ["HOME", "PATH"] {
            if let Some(value) = self.variable(name) {
                call = call.env(name, value);
            }
        }
        // A tool that fails, hangs or knows nothing is no reason to stop: git may know more.
        let output = call.run().ok().filter(|output| output.code == 0)?;
        let token = String::from_utf8(output.stdout).ok()?.trim().to_owned();
        let is_token = !token.is_empty() && token.chars().all(|c| c.is_ascii_graphic());
        is_token.then(|| Login {
            user: Secret::new(tool.user.to_owned()),
            password: Secret::new(token),
            from: format!("`{} {}`", tool.name, tool.words[..2].join(" ")),
        })
    }

    fn variable(&self, name: &str) -> Option<&str> {
        let value = self.variables.get(name).map(|value| value.trim());
        value.filter(|value| !value.is_empty())
    }

    /// The host in a variable that may hold a whole address.
    fn host_in(&self, name: &str) -> Option<String> {
        let value = self.variable(name)?;
        let host = value.split_once("://").map_or(value, |(_, rest)| rest);
        Some(host.trim_end_matches('/').to_ascii_lowercase())
    }
}

fn written_login(user: Option<&Secret>, password: &Secret) -> Login {
    let user = user.map_or(TOKEN_USER, Secret::reveal);
    Login {
        user: Secret::new(user.to_owned()),
        password: password.clone(),
        from: "the address".into(),
    }
}

struct TokenCommand {
    name: &'static str,
    words: &'static [&'static str],
    user: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginPurpose {
    Read,
    Push,
    PullRequest,
}

impl LoginPurpose {
    /// As the end of "a token that may …".
    pub fn words(self) -> &'static str {
        match self {
            Self::Read => "read the repository",
            Self::Push => "write to the repository",
            Self::PullRequest => "open pull requests",
        }
    }
}

pub fn what_to_set(server: &str, wish: LoginPurpose) -> String {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let unbound = is_set(OUR_TOKEN) && !is_set(OUR_HOST);
    let may = wish.words();
    if unbound {
        // Not the name of this server: a repository may lead anywhere.
        return format!(
            "PLEACH_GIT_TOKEN was not used: set PLEACH_GIT_HOST to the token's server; {server} requires \
             a token that may {may}"
        );
    }
    let (variable, tool) = match server {
        "github.com" => ("GH_TOKEN", "run `gh auth login`"),
        "gitlab.com" => ("GITLAB_TOKEN", "run `glab auth login`"),
        "gitea.com" => ("GITEA_TOKEN", "set up a git credential helper"),
        "codeberg.org" => ("FORGEJO_TOKEN", "set up a git credential helper"),
        _ => {
            return format!(
                "set PLEACH_GIT_HOST={server} and PLEACH_GIT_TOKEN to a token that may {may}, run `gh auth login --hostname {server}` or `glab auth login --hostname {server}`, or set up \
                 a git credential helper"
            );
        }
    };
    format!("set {variable} to a token that may {may}, or {tool}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variables: &[(&str, &str)], address: &str) -> Option<(String, String)> {
        let variables = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let logins = Logins::new(Path::new("/pleach"), variables);
        let (address, written) = super::super::Address::parse(address).unwrap();
        let login = logins.find(address.http_host()?, &written)?;
        Some((login.from, login.password.reveal().to_owned()))
    }

    #[track_caller]
    fn check(variables: &[(&str, &str)], address: &str, from: Option<&str>) {
        assert_eq!(
            found(variables, address).map(|(from, _)| from).as_deref(),
            from
        );
    }

    #[test]
    fn a_token_goes_to_its_own_server_only() {
        let all = [
            ("GITHUB_TOKEN", "hub"),
            ("GH_ENTERPRISE_TOKEN", "corp"),
            ("GH_HOST", "git.corp"),
            ("GITLAB_TOKEN", "lab"),
            ("GITEA_TOKEN", "tea"),
            ("GITEA_HOST", "https://tea.corp:3000/"),
            ("FORGEJO_TOKEN", "forge"),
        ];
        check(&all, "https://github.com/a/b", Some("GITHUB_TOKEN"));
        check(&all, "https://GitHub.com:443/a/b", Some("GITHUB_TOKEN"));
        check(&all, "https://git.corp/a/b", Some("GH_ENTERPRISE_TOKEN"));
        check(&all, "https://gitlab.com/a/b", Some("GITLAB_TOKEN"));
        check(&all, "https://tea.corp:3000/a", Some("GITEA_TOKEN"));
        check(&all, "https://codeberg.org/a", Some("FORGEJO_TOKEN"));
        for other in [
            "https://github.com.evil.example/a",
            "https://github.com:8443/a",
            "http://github.com/a",
            "https://evil.example/github.com",
            "https://tea.corp/a",
            "https://gitea.com/a",
            "git@github.com:a/b",
        ] {
            check(&all, other, None);
        }
    }

    #[test]
    fn the_token_for_pleach_goes_to_its_host_only_and_comes_first_there() {
        let both = [("GH_TOKEN", "hub"), ("PLEACH_GIT_TOKEN", "own")];
        check(&both, "https://github.com/a", Some("GH_TOKEN"));
        check(&both, "https://git.corp/a", None);
        let bound = |host| [both[0], both[1], ("PLEACH_GIT_HOST", host)];
        check(&bound("git.corp"), "https://github.com/a", Some("GH_TOKEN"));
        let own = Some("PLEACH_GIT_TOKEN");
        check(&bound("git.corp"), "https://git.corp/a", own);
        check(&bound("https://Git.corp/"), "https://git.corp/a", own);
        check(&bound("github.com"), "https://github.com/a", own);
        let blank = [("PLEACH_GIT_TOKEN", " "), ("PLEACH_GIT_HOST", "git.corp")];
        check(&blank, "https://git.corp/a", None);
    }

    #[test]
    fn a_login_in_the_address_wins_and_nothing_prints_it() {
        let token = [("GH_TOKEN", "hub")];
        check(&token, "https://ann@github.com/a", Some("GH_TOKEN"));
        let lone = found(&token, "https://gho_0123456789abcdef@github.com/a").unwrap();
        assert_eq!(lone.1, "gho_0123456789abcdef");
        let login = found(&token, "http://ann:pw@github.com/a").unwrap();
        assert_eq!(login, ("the address".to_owned(), "pw".to_owned()));
        let logins = Logins::new(Path::new("/p"), [("GH_TOKEN".into(), "hub".into())]);
        let server = HttpHost {
            protocol: "https",
            host: "github.com".into(),
        };
        let login = logins.find(&server, &UserInfo::default());
        let printed = format!("{logins:?} {login:?}");
        assert!(!printed.contains("hub\""), "{printed}");
    }
}
