//! The door of a batch: a socket where other processes of the same user that know its key leave requests.
//!
//! Reads and answers; clients that are slow, loud or not understood never reach the owner.

use std::fs::{self, Permissions};
use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use pleach_system::state_folder::SOCKET;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::sockopt::socket_peercred;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::key::Key;
use super::{Answer, BatchLock, OwnedBatch, OwnershipError, Request, failed};

/// A socket gets its name when its mode is right.
const UNNAMED: &str = "socket.new";
const LONGEST_REQUEST: usize = 64 << 10;
/// How long a client may take for its request, and to take the answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// How many clients are listened to at once; the others wait outside.
const SEATS: usize = 16;
const PAUSE: Duration = Duration::from_millis(20);

/// Open until it is dropped.
#[derive(Debug)]
pub struct Door {
    held: Arc<OwnedBatch>,
    seats: Arc<ClientLimit>,
    wake: Option<PipeWriter>,
    porter: Option<JoinHandle<()>>,
}

/// Where the answer to one request goes; dropped without an answer, the client is told that nobody is there.
#[derive(Debug)]
pub struct Reply(UnixStream);

impl Reply {
    /// Answers; a client that went away or does not read is not waited for.
    #[expect(clippy::needless_pass_by_value, reason = "an answer is given once")]
    pub fn send(self, answer: Answer) {
        let mut line = serde_json::to_vec(&answer).expect("answers are plain data");
        line.push(b'\n');
        let Self(mut stream) = self;
        // Nobody else could do anything about a client that is gone.
        drop(stream.write_all(&line));
    }
}

#[derive(Debug, Clone, Copy)]
pub struct KeylessClient {
    pub pid: i32,
}

impl Door {
    /// Opens the door of a batch; `hear` is called in other threads, once a request, and `turned_away` for the first
    /// stranger, since whoever comes a thousand times says nothing new.
    pub fn open(
        lock: &BatchLock,
        hear: impl Fn(Request, Reply) + Send + Sync + 'static,
        turned_away: impl Fn(KeylessClient) + Send + Sync + 'static,
    ) -> Result<Self, OwnershipError> {
        let held = Arc::clone(&lock.0);
        let path = held.place.short(SOCKET);
        let listener = listen(&held).map_err(failed("open the socket", &path))?;
        let (waiting, wake) = io::pipe().map_err(failed("open a pipe for", &path))?;
        let seats = Arc::new(ClientLimit::default());
        let porter = {
            let seats = Arc::clone(&seats);
            let porter = Arc::new(RequestReader {
                key: held.key.clone(),
                hear,
                turned_away,
                was_told: AtomicBool::new(false),
            });
            std::thread::Builder::new()
                .name("door".into())
                .spawn(move || let_in(&listener, &waiting, &seats, &porter))
                .map_err(failed("start a thread for", &path))?
        };
        Ok(Self {
            held,
            seats,
            wake: Some(wake),
            porter: Some(porter),
        })
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        // A name that stays leads nowhere, and the next owner replaces it.
        drop(fs::remove_file(self.held.place.short(SOCKET)));
        self.seats.close();
        drop(self.wake.take());
        if let Some(porter) = self.porter.take() {
            drop(porter.join());
        }
    }
}

/// Whoever holds the lock may replace what an owner that died left behind.
fn listen(held: &OwnedBatch) -> io::Result<UnixListener> {
    let unnamed = held.place.short(UNNAMED);
    match fs::remove_file(&unnamed) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(&unnamed)?;
    listener.set_nonblocking(true)?;
    fs::set_permissions(&unnamed, Permissions::from_mode(0o600))?;
    fs::rename(&unnamed, held.place.short(SOCKET))?;
    Ok(listener)
}

struct RequestReader<Hear, Away> {
    key: Key,
    hear: Hear,
    turned_away: Away,
    was_told: AtomicBool,
}

impl<Hear: Fn(Request, Reply), Away: Fn(KeylessClient)> RequestReader<Hear, Away> {
    fn turn_away(&self, stranger: KeylessClient) {
        if !self.was_told.swap(true, Ordering::Relaxed) {
            (self.turned_away)(stranger);
        }
    }
}

/// Lets clients in one by one until the other end of `waiting` is closed.
fn let_in<Hear, Away>(
    listener: &UnixListener,
    waiting: &PipeReader,
    seats: &Arc<ClientLimit>,
    porter: &Arc<RequestReader<Hear, Away>>,
) where
    Hear: Fn(Request, Reply) + Send + Sync + 'static,
    Away: Fn(KeylessClient) + Send + Sync + 'static,
{
    while let Some(seat) = ClientLimit::take(seats) {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let mut both = [
                    PollFd::new(listener, PollFlags::IN),
                    PollFd::new(waiting, PollFlags::IN),
                ];
                // A poll that is interrupted is simply made again.
                let _ = poll(&mut both, None);
                continue;
            }
            // Too many open files, for instance: that passes.
            Err(_) => {
                std::thread::sleep(PAUSE);
                continue;
            }
        };
        let porter = Arc::clone(porter);
        let listening = std::thread::Builder::new().name("door guest".into());
        // Without a thread the client is turned away, by the stream being dropped.
        drop(listening.spawn(move || {
            if let Some((request, reply)) = listen_to(stream, &porter) {
                drop(seat);
                (porter.hear)(request, reply);
            }
        }));
    }
}

/// A request as it comes in: what is asked for is read once the key is known to be right.
#[derive(Deserialize)]
struct ReceivedRequest<'l> {
    key: Key,
    #[serde(borrow)]
    request: &'l RawValue,
}

/// The request of one client, if it is one of ours and makes sense; who does not is told why.
fn listen_to<Hear, Away>(
    stream: UnixStream,
    porter: &RequestReader<Hear, Away>,
) -> Option<(Request, Reply)>
where
    Hear: Fn(Request, Reply),
    Away: Fn(KeylessClient),
{
    let peer = socket_peercred(&stream).ok()?;
    if peer.uid != rustix::process::geteuid() {
        return None;
    }
    stream.set_nonblocking(false).ok()?;
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    let read = read_line(&stream);
    let reply = Reply(stream);
    let line = match read {
        Ok(line) => line,
        Err(error) => {
            reply.send(bad_request(format!("could not read the request: {error}")));
            return None;
        }
    };
    let received = serde_json::from_slice::<ReceivedRequest<'_>>(&line).ok();
    let Some(received) = received.filter(|received| porter.key.is(&received.key)) else {
        let pid = peer.pid.as_raw_nonzero().get();
        porter.turn_away(KeylessClient { pid });
        reply.send(bad_key());
        return None;
    };
    match serde_json::from_str(received.request.get()) {
        Ok(request) => Some((request, reply)),
        Err(error) => {
            reply.send(bad_request(format!("malformed request: {error}")));
            None
        }
    }
}

fn bad_request(message: String) -> Answer {
    Answer::Refused {
        code: "bad_request".into(),
        message,
        hint: None,
    }
}

/// Also what an older version is told, which knows no keys.
fn bad_key() -> Answer {
    Answer::Refused {
        code: "bad_key".into(),
        message: "the request does not have this batch's key".into(),
        hint: Some(format!(
            "this batch is run by Pleach {}; use that version, as the user who started it, outside of its sandbox",
            env!("CARGO_PKG_VERSION")
        )),
    }
}

fn read_line(mut stream: &UnixStream) -> io::Result<Vec<u8>> {
    let deadline = Instant::now() + PATIENCE;
    let mut line = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        let count = match stream.read(&mut piece) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let end = piece[..count].iter().position(|byte| *byte == b'\n');
        line.extend_from_slice(&piece[..end.unwrap_or(count)]);
        if line.len() > LONGEST_REQUEST {
            return Err(io::Error::other("it is too long"));
        }
        if end.is_some() {
            return Ok(line);
        }
    }
}

#[derive(Debug, Default)]
struct ClientLimit {
    state: Mutex<ClientLimitState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct ClientLimitState {
    taken: usize,
    closed: bool,
}

impl ClientLimit {
    /// Waits for a free seat; there is none after closing.
    fn take(seats: &Arc<Self>) -> Option<ClientSlot> {
        let full = |state: &mut ClientLimitState| state.taken >= SEATS && !state.closed;
        let state = seats.changed.wait_while(seats.lock(), full);
        let mut state = state.unwrap_or_else(std::sync::PoisonError::into_inner);
        if state.closed {
            return None;
        }
        state.taken += 1;
        drop(state);
        Some(ClientSlot(Arc::clone(seats)))
    }

    fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, ClientLimitState> {
        let locked = self.state.lock();
        locked.unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// One client's, until it is heard.
#[derive(Debug)]
struct ClientSlot(Arc<ClientLimit>);

impl Drop for ClientSlot {
    fn drop(&mut self) {
        self.0.lock().taken -= 1;
        self.0.changed.notify_all();
    }
}
