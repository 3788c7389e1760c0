//! A client of events that notes how late each one is, and whether all came in order.

use std::io::{BufRead, BufReader, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

const MILLISECONDS_A_DAY: u64 = 24 * 60 * 60 * 1_000;
/// Enough for a client that keeps numbers only.
const STACK: usize = 128 << 10;

/// What a client heard.
pub(super) struct Delivered {
    /// The number of the last event that came in order.
    pub(super) last: u64,
    /// How late each was, in milliseconds.
    pub(super) delays: Vec<u32>,
}

/// A client on a thread of its own.
pub(super) struct Listener {
    thread: JoinHandle<Delivered>,
    stream: TcpStream,
}

impl Listener {
    /// Listens from the first event on, until the one whose number is put into `last`.
    pub(super) fn start(address: SocketAddr, token: &str, last: &Arc<AtomicU64>) -> Self {
        let mut stream = TcpStream::connect(address).expect("the server listens");
        // An answer to this version of HTTP is not cut into chunks.
        let head = format!(
            "GET /api/events?from=0 HTTP/1.0\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).expect("the server reads");
        let reader = BufReader::with_capacity(16 << 10, stream.try_clone().expect("it is open"));
        let last = Arc::clone(last);
        let thread = std::thread::Builder::new().stack_size(STACK);
        let thread = thread.spawn(move || listen(reader, &last));
        Self {
            thread: thread.expect("there are threads"),
            stream,
        }
    }

    /// What it heard, once it heard the last event or enough time has passed.
    pub(super) fn finish(self, patience: Duration) -> Delivered {
        // A stream says something every 15 seconds at least, so that a look at the clock comes soon enough.
        let deadline = std::time::Instant::now() + patience;
        while !self.thread.is_finished() && std::time::Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
        self.thread.join().expect("a client does not fail")
    }
}

fn listen(reader: impl BufRead, end: &AtomicU64) -> Delivered {
    let mut heard = Delivered {
        last: 0,
        delays: Vec::new(),
    };
    let mut number = None;
    for line in reader.lines().map_while(Result::ok) {
        if let Some(id) = line.strip_prefix("id: ") {
            number = id.parse::<u64>().ok();
        } else if let Some(data) = line.strip_prefix("data: ")
            && let Some(number) = number.take()
        {
            if number != heard.last + 1 {
                return heard;
            }
            heard.last = number;
            heard.delays.extend(delay(data));
        } else if line.is_empty() {
            number = None;
        }
        if heard.last == end.load(Ordering::Relaxed) {
            break;
        }
    }
    heard
}

/// How long ago it happened, by the time of day that the event carries.
fn delay(data: &str) -> Option<u32> {
    let at = data.split("\"at\":\"").nth(1)?.get(11..23)?;
    let (hours, rest) = at.split_once(':')?;
    let (minutes, seconds) = rest.split_once(':')?;
    let (seconds, milliseconds) = seconds.split_once('.')?;
    let part = |text: &str| text.parse::<u64>().ok();
    let at =
        ((part(hours)? * 60 + part(minutes)?) * 60 + part(seconds)?) * 1_000 + part(milliseconds)?;
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .ok()?;
    let now = u64::try_from(now.as_millis()).ok()? % MILLISECONDS_A_DAY;
    u32::try_from((now + MILLISECONDS_A_DAY - at) % MILLISECONDS_A_DAY).ok()
}
