//! A server in this very process, spoken to through its router.
//!
//! Knows nothing of what a test wants to prove with it.

use std::io::{self, BufRead, Read};
use std::net::SocketAddr;
use std::ops::Deref;
use std::path::Path;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::Request;
use http_body_util::BodyExt as _;
use pleach_engine::config::{Layers, Settings};
use pleach_engine::plan_in_use::project_folder;
use pleach_engine::trust::TrustRequest;
use pleach_log::database::Database;
use pleach_server::{Consent, Options, Service, Token};
use pleach_system::state_folder::StateFolder;
use pleach_testkit::{Client, PATIENCE, PendingResponse, Scene, Transport, own_home};
use tokio::runtime::{Handle, Runtime};
use tower::ServiceExt as _;

/// What wraps agents.
const PROGRAM: &str = env!("CARGO_BIN_EXE_pleach-test-wrapper");

/// The port that it believes to have.
const PORT: u16 = 4711;

/// What `pleach serve` is, without its sockets; what runs in it ends with the test.
pub(crate) struct Serving {
    client: Client,
    service: Service,
    runtime: Option<Runtime>,
}

/// The state folder of this process.
pub(crate) fn state() -> StateFolder {
    StateFolder::at(&own_home().join(".local/state/pleach")).unwrap()
}

impl Serving {
    /// Serves in the repository of a scene.
    pub(crate) fn of(scene: &Scene, consent: Consent) -> Self {
        Self::start(scene.repo.path(), consent, &[])
    }

    /// Serves in a folder, under further names.
    pub(crate) fn start(folder: &Path, consent: Consent, names: &[&str]) -> Self {
        trust(folder);
        let top = project_folder(folder);
        let options = Options {
            state: state(),
            program: PROGRAM.into(),
            run_batch: pleach_loop::run_batch,
            repository: top.join(".git").exists().then_some(top),
            host: None,
            port: PORT,
            allow_hosts: names.iter().map(|name| (*name).to_owned()).collect(),
            consent,
        };
        let address = SocketAddr::from(([127, 0, 0, 1], PORT));
        let service = Service::new(options, address).unwrap();
        let runtime = Runtime::new().unwrap();
        runtime.spawn(service.work());
        let transport = InProcess {
            router: service.router(),
            runtime: runtime.handle().clone(),
        };
        let token = Token::load_or_create(state().path()).unwrap();
        Self {
            client: Client::over(transport, address, token.as_str()),
            service,
            runtime: Some(runtime),
        }
    }

    /// A link that lets one browser in.
    pub(crate) fn link(&self) -> String {
        self.service.link()
    }

    /// Has it end, as the second signal does.
    pub(crate) fn end(&self) {
        self.service.stopper().end();
    }
}

/// Scenes open what is beside them to their agents, as nobody may by a request alone.
pub(crate) fn trust(folder: &Path) {
    let folder = project_folder(folder);
    let Ok(layers) = Layers::load(&folder) else {
        return;
    };
    // A scene whose settings are wrong on purpose has nothing to trust.
    if let Ok(settings) = Settings::of_layers(&layers, &folder) {
        let openings = TrustRequest::find(&layers, &settings, &folder);
        let mut database = Database::open(&state()).unwrap();
        openings.trust(&mut database).unwrap();
    }
}

impl Deref for Serving {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.end();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::from_secs(1));
        }
    }
}

/// Calls a router as a server does that has read a request.
struct InProcess {
    router: Router,
    runtime: Handle,
}

impl Transport for InProcess {
    fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> io::Result<PendingResponse> {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request
            .header("Content-Length", body.len())
            .body(Body::from(body.to_vec()))
            .map_err(io::Error::other)?;
        let answer = self.router.clone().oneshot(request);
        let answer = async { tokio::time::timeout(PATIENCE, answer).await };
        let answer = self.runtime.block_on(answer)?;
        let (head, body) = answer.unwrap_or_else(|never| match never {}).into_parts();
        let text = |value: &axum::http::HeaderValue| value.to_str().unwrap().to_owned();
        let headers = head.headers.iter();
        let headers = headers.map(|(name, value)| (name.to_string(), text(value)));
        Ok(PendingResponse {
            status: head.status.as_u16(),
            headers: headers.collect(),
            body: Box::new(Reader {
                body,
                runtime: self.runtime.clone(),
                piece: Bytes::new(),
            }),
            stream: None,
        })
    }
}

/// Reads a body as it comes.
struct Reader {
    body: Body,
    runtime: Handle,
    /// What is left of the last piece.
    piece: Bytes,
}

impl BufRead for Reader {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.piece.is_empty() {
            let next = async { tokio::time::timeout(PATIENCE, self.body.frame()).await };
            let Some(frame) = self.runtime.block_on(next)? else {
                break;
            };
            let frame = frame.map_err(io::Error::other)?;
            self.piece = frame.into_data().unwrap_or_default();
        }
        Ok(&self.piece)
    }

    fn consume(&mut self, amount: usize) {
        let _ = self.piece.split_to(amount);
    }
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(buffer)?;
        self.consume(length);
        Ok(length)
    }
}
