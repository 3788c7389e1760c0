//! The login for the HTTP interface of a server: as for git, and then what git's own helpers know.
//!
//! Knows nothing of what is asked there.

use std::time::Duration;

use super::address::{HttpHost, UserInfo};
use super::credentials::{Login, Logins, Secret};
use super::store::Project;
use super::{CallPlace, Store, StoreError};

/// How long a helper of the user's may take to answer.
const PATIENCE: Duration = Duration::from_secs(20);

impl Store {
    /// The login for a server that this project is pushed to, if anybody knows one.
    pub fn api_login(
        &self,
        server: &HttpHost,
        logins: &Logins,
    ) -> Result<Option<Login>, StoreError> {
        let (address, written) = self.push_server()?;
        // A name in an address of ssh is no name of this interface.
        let is_same = address.http_host() == Some(server);
        let written = if is_same {
            written
        } else {
            UserInfo::default()
        };
        if let Some(login) = logins.find(server, &written) {
            return Ok(Some(login));
        }
        if !server.is_private() {
            return Ok(None);
        }
        Ok(self.ask_helpers(server, address.path_on_server(), &written))
    }

    /// What git itself would log in with, by the helpers that the user has configured.
    fn ask_helpers(
        &self,
        server: &HttpHost,
        path: Option<&str>,
        written: &UserInfo,
    ) -> Option<Login> {
        let path = path.map(|path| format!("path={path}.git\n"));
        let user = written.user.as_ref();
        let user = user.map(|user| format!("username={}\n", user.reveal()));
        let question = format!(
            "protocol={}\nhost={}\n{}{}\n",
            server.protocol,
            server.host,
            path.unwrap_or_default(),
            user.unwrap_or_default()
        );
        let place = match &self.project {
            Project::Local(checkout) => CallPlace::Users(&checkout.folder),
            Project::Remote(_) | Project::Plain(_) | Project::Borrowed(_) => {
                CallPlace::Nowhere(self.home())
            }
        };
        let call = self.git.call(place).with_servers();
        let call = call.args(["credential", "fill"]);
        let call = call.env("GCM_INTERACTIVE", "never").deadline(PATIENCE);
        // Helpers that fail, hang or know nothing mean that there is no login.
        let output = call.stdin(question).run().ok()?;
        if output.code != 0 {
            return None;
        }
        let printed = String::from_utf8_lossy(&output.stdout);
        let field = |name: &str| {
            let mut lines = printed.lines().filter_map(|line| line.split_once('='));
            let found = lines.find(|(key, _)| *key == name);
            found.map(|(_, value)| value.to_owned())
        };
        let is_asked = field("host").is_some_and(|host| host == server.host);
        let password = field("password").filter(|password| is_asked && !password.is_empty());
        password.map(|password| Login {
            user: Secret::new(field("username").unwrap_or_default()),
            password: Secret::new(password),
            from: "git's credential helper".into(),
        })
    }
}
