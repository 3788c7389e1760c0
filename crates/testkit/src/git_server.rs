//! A small HTTP server on loopback that serves git repositories and may want a password.
//!
//! Remembers every request for the test to look at.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::http::{
    Handler, HttpRequest, Listening, Reply, UNAUTHORIZED, backend, is_in_argv, login,
};

#[derive(Debug, Clone)]
pub enum Access {
    Open,
    Password(String),
    /// Nobody: all are sent to another server.
    SentOnTo(String),
    PasswordThenSentOnTo(String, String),
}

#[derive(Debug, Clone)]
pub struct Request {
    pub target: String,
    pub login: Option<String>,
    /// Whether any process of this machine had the password on its command line then.
    pub is_password_in_argv: bool,
}

/// Serves the repositories below a folder until it is dropped.
pub struct GitServer {
    shared: Arc<GitServerInner>,
    listening: Listening,
}

struct GitServerInner {
    root: PathBuf,
    access: Access,
    /// What must be on no command line.
    password: String,
    requests: Mutex<Vec<Request>>,
}

impl GitServer {
    /// Starts to serve; `password` is what is looked for on command lines.
    pub fn start(root: &Path, access: Access, password: &str) -> Self {
        let shared = Arc::new(GitServerInner {
            root: root.to_owned(),
            access,
            password: password.to_owned(),
            requests: Mutex::default(),
        });
        let listening = Listening::start(Arc::clone(&shared) as Arc<dyn Handler>);
        Self { shared, listening }
    }

    pub fn host(&self) -> String {
        self.listening.host()
    }

    /// The address of a repository by its path below the root.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.host())
    }

    pub fn requests(&self) -> Vec<Request> {
        let requests = self.shared.requests.lock();
        requests.expect("no thread panics while it notes").clone()
    }
}

impl Handler for GitServerInner {
    fn answer(&self, asked: &HttpRequest) -> io::Result<Reply> {
        let login = asked.headers.get("authorization").map(|value| login(value));
        let request = Request {
            target: asked.target.clone(),
            login: login.clone(),
            is_password_in_argv: is_in_argv(&self.password),
        };
        if let Ok(mut requests) = self.requests.lock() {
            requests.push(request);
        }
        let password = login.as_deref().and_then(|login| login.split_once(':'));
        let is_unknown = |wanted: &String| password.is_none_or(|(_, given)| given != wanted);
        Ok(Reply::Bytes(match &self.access {
            Access::Password(wanted) | Access::PasswordThenSentOnTo(wanted, _)
                if is_unknown(wanted) =>
            {
                UNAUTHORIZED.as_bytes().to_vec()
            }
            Access::SentOnTo(place) | Access::PasswordThenSentOnTo(_, place) => {
                let place = format!("{place}{}", asked.target);
                format!("HTTP/1.1 302 Found\r\nLocation: {place}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                    .into_bytes()
            }
            Access::Open | Access::Password(_) => backend(&self.root, asked)?,
        }))
    }
}
