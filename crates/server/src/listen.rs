//! Listens, takes connections within limits, and stops when asked to.
//!
//! Knows sockets and time; what is answered is the routes' business.

mod write_timeout;

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use pleach_engine::fault::{Blame, Fault, Faults};
use pleach_engine::operator::Consent;
use pleach_engine::run::RunBatch;
use pleach_system::pace::paced;
use pleach_system::state_folder::StateFolder;
use pleach_system::text::causes::with_causes;
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tower::ServiceExt as _;

use self::write_timeout::WriteTimeout;
use crate::app::{App, Stopping, over};
use crate::connections::{ConnectionAuth, Connections, LocalAddress};
use crate::door::token::{Token, TokenError};
use crate::door::{Door, Hosts, opener};
use crate::hosting;
use crate::plan_sync::{keep_plan_files_in_sync, welcome};
use crate::routes::router;

/// How long the head of a request may take, and how long a connection may be idle.
const HEAD: Duration = Duration::from_secs(10);
const MOST_HEADERS: usize = 100;
/// Longer heads are not even read to their end; up to which length they are taken is the door's business.
const READ_AHEAD: usize = 64 << 10;
/// How long a client may take nothing of what is written to it.
const STUCK: Duration = Duration::from_secs(30);
/// How long requests that are under way have when the server stops.
const LAST_WORDS: Duration = Duration::from_secs(5);

#[derive(Debug, Clone)]
pub struct Options {
    pub state: StateFolder,
    /// Pleach's own program, which git calls back and which wraps agents.
    pub program: PathBuf,
    /// What runs its batches.
    pub run_batch: RunBatch,
    /// The repository to serve from the start, if any.
    pub repository: Option<PathBuf>,
    /// The address to listen at; none means this machine only.
    pub host: Option<IpAddr>,
    /// The port; 0 for any that is free.
    pub port: u16,
    /// Further names that the server answers to, for a proxy in front of it.
    pub allow_hosts: Vec<String>,
    pub consent: Consent,
}

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("port {port} is taken")]
    PortTaken { port: u16 },
    #[error("could not listen on {address}")]
    Listen {
        address: SocketAddr,
        source: io::Error,
    },
    #[error(transparent)]
    Token(#[from] TokenError),
    #[error("could not start the server")]
    Threads(#[source] io::Error),
}

impl From<ServeError> for Faults {
    fn from(error: ServeError) -> Self {
        match error {
            ServeError::Token(error) => error.into(),
            error => Fault::new(Blame::Environment, "serve", with_causes(&error))
                .hint("choose another address with --port or --host")
                .into(),
        }
    }
}

/// What is served, without sockets: it answers requests, however they come.
#[derive(Debug)]
pub struct Service {
    app: App,
    address: SocketAddr,
}

/// A server that listens and does not answer yet.
#[derive(Debug)]
pub struct Server {
    service: Service,
    listeners: Vec<TcpListener>,
}

/// Has a server stop, from any thread.
#[derive(Debug, Clone)]
pub struct Stopper(App);

impl Service {
    /// Answers to names of this machine with the port of that address, and to those that are allowed.
    pub fn new(options: Options, address: SocketAddr) -> Result<Self, TokenError> {
        let token = Token::load_or_create(options.state.path())?;
        let hosts = Hosts::new(address.port(), &options.allow_hosts);
        let door = Door::new(token, hosts);
        let app = App::new(
            options.state,
            options.program,
            options.run_batch,
            options.consent,
            door,
        );
        if let Some(repository) = &options.repository {
            welcome(&app, repository);
        }
        Ok(Self { app, address })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A link that lets one browser in.
    pub fn link(&self) -> String {
        format!(
            "http://{}/#enter={}",
            self.address,
            self.app.door.links.issue()
        )
    }

    pub fn stopper(&self) -> Stopper {
        Stopper(self.app.clone())
    }

    pub fn router(&self) -> Router {
        router(self.app.clone())
    }

    /// Does what nobody has to ask for, until it is stopped: goes on with batches that were interrupted, keeps boards in
    /// step with plan files.
    pub fn work(&self) -> impl Future<Output = ()> + use<> {
        let app = self.app.clone();
        hosting::go_on_with_what_was_interrupted(&app);
        async move {
            tokio::select! {
                () = keep_plan_files_in_sync(app.clone()) => {}
                () = opener::sweep(app.state.path()) => {}
                () = over(app.stopping.subscribe()) => {}
            }
        }
    }
}

impl Server {
    pub fn bind(options: Options) -> Result<Self, ServeError> {
        let listeners = match options.host {
            Some(host) => vec![listen(SocketAddr::new(host, options.port))?],
            None => listen_on_loopback(options.port)?,
        };
        let address = listeners[0].local_addr().map_err(ServeError::Threads)?;
        let service = Service::new(options, address)?;
        Ok(Self { service, listeners })
    }

    pub fn run(self) -> Result<(), ServeError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .max_blocking_threads(64)
            .thread_name("serve")
            .build()
            .map_err(ServeError::Threads)?;
        tracing::info!(address = %self.address, version = env!("CARGO_PKG_VERSION"), "serving");
        let served = runtime.block_on(serve(&self.service, self.listeners));
        runtime.shutdown_timeout(Duration::from_secs(1));
        tracing::info!("stopped");
        served.map_err(ServeError::Threads)
    }
}

impl std::ops::Deref for Server {
    type Target = Service;

    fn deref(&self) -> &Service {
        &self.service
    }
}

impl Stopper {
    /// Begins nothing new and ends when what runs has ended.
    pub fn drain(&self) {
        hosting::drain(&self.0);
    }

    /// Asks what runs to stop, keeps its work for the next server, and ends.
    pub fn leave(&self) {
        hosting::leave(&self.0);
    }

    /// Ends the server; requests that are under way are answered first.
    pub fn end(&self) {
        self.0.host.begin_no_more();
        self.0.stopping.send_replace(Stopping::Over);
    }
}

fn listen(address: SocketAddr) -> Result<TcpListener, ServeError> {
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::AddrInUse => ServeError::PortTaken {
            port: address.port(),
        },
        _ => ServeError::Listen { address, source },
    };
    let listener = TcpListener::bind(address).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    Ok(listener)
}

/// Both of this machine's addresses for itself, on one port; a machine without IPv6 has one.
fn listen_on_loopback(port: u16) -> Result<Vec<TcpListener>, ServeError> {
    let four = listen((Ipv4Addr::LOCALHOST, port).into())?;
    let port = four.local_addr().map_err(ServeError::Threads)?.port();
    match listen((Ipv6Addr::LOCALHOST, port).into()) {
        Ok(six) => Ok(vec![four, six]),
        Err(ServeError::PortTaken { port }) => Err(ServeError::PortTaken { port }),
        Err(_) => Ok(vec![four]),
    }
}

async fn serve(service: &Service, listeners: Vec<TcpListener>) -> io::Result<()> {
    let router = service.router();
    let crowd = Connections::new();
    let (working, mut worked) = mpsc::channel(1);
    let mut accepting = tokio::task::JoinSet::new();
    for listener in listeners {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        accepting.spawn(accept(
            service.app.clone(),
            listener,
            router.clone(),
            Arc::clone(&crowd),
            working.clone(),
        ));
    }
    drop(working);
    service.work().await;
    accepting.shutdown().await;
    // Ends when nobody is left to say that they work. Whoever does not finish in time is cut off.
    let _ = tokio::time::timeout(LAST_WORDS, worked.recv()).await;
    Ok(())
}

async fn accept(
    app: App,
    listener: tokio::net::TcpListener,
    service: Router,
    crowd: Arc<Connections>,
    working: mpsc::Sender<()>,
) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let (app, service) = (app.clone(), service.clone());
                let (stay, working) = (crowd.enter(), working.clone());
                tokio::spawn(async move {
                    app.counts.connections.fetch_add(1, Ordering::Relaxed);
                    tokio::select! {
                        () = converse(stream, service, stay.introduction(), app.stopping.subscribe()) => {}
                        () = stay.until_it_must_go() => {}
                    }
                    app.counts.connections.fetch_sub(1, Ordering::Relaxed);
                    drop(working);
                });
            }
            // Mostly because there are no file descriptors left.
            Err(error) => {
                tracing::warn!(%error, "could not accept a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn converse(
    stream: TcpStream,
    service: Router,
    introduction: ConnectionAuth,
    stopping: watch::Receiver<Stopping>,
) {
    // Events are small and late ones are bad ones.
    let _ = stream.set_nodelay(true);
    let Ok(address) = stream.local_addr() else {
        return;
    };
    let service = service.map_request(move |mut request: hyper::Request<Incoming>| {
        let extensions = request.extensions_mut();
        extensions.insert(LocalAddress(address));
        extensions.insert(introduction.clone());
        request
    });
    let stream = TokioIo::new(WriteTimeout::new(stream, paced(STUCK)));
    let mut protocol = http1::Builder::new();
    protocol
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_headers(MOST_HEADERS)
        .max_buf_size(READ_AHEAD);
    let connection = protocol.serve_connection(stream, TowerToHyperService::new(service));
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        ended = connection.as_mut() => tell_odd(ended),
        () = over(stopping) => {
            connection.as_mut().graceful_shutdown();
            tell_odd(connection.await);
        }
    }
}

fn tell_odd(ended: Result<(), hyper::Error>) {
    if let Err(error) = ended {
        tracing::debug!(%error, "connection closed unexpectedly");
    }
}
