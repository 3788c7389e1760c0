//! An agent that takes up the server's connections without a token.

use std::io::Write as _;
use std::time::{Duration, Instant};

use pleach_testkit::hear;

use super::sandboxed;
use crate::serving::Serving;

/// Much less than it takes a silent connection to be closed.
const AT_ONCE: Duration = Duration::from_secs(5);

/// Opens more connections than the server takes, in all ways, and goes on opening new ones for those that are closed.
const CROWD: &str = r#"cat > crowd.py <<'END'
import select, socket, threading, time
port = int(open("BESIDE/out/server").read())
words = [b"", b"GET / HTTP/1.1\r\n", ("GET /health HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % port).encode()]
held = []
def one(at):
    s = socket.socket()
    s.setblocking(False)
    s.connect_ex(("127.0.0.1", port))
    try: s.send(words[at % 3])
    except OSError: pass
    return s
for at in range(700):
    held.append(one(at))
    if at % 50 == 0: select.select([], [held[-1]], [], 1)
open("BESIDE/arrived", "w").write("1\n")
over = []
threading.Thread(target=lambda: over.append(open("BESIDE/gate").readline()), daemon=True).start()
def is_closed(s):
    try: return s.recv(65536) == b""
    except BlockingIOError: return False
    except OSError: return True
at = 0
while not over:
    # Some two hundred a second: a test proves that places are kept, not who is faster.
    time.sleep(0.05)
    for at in range(at, at + 10):
        if is_closed(held[at % 700]):
            held[at % 700].close()
            held[at % 700] = one(at)
END
ulimit -n 4096; python3 crowd.py; rm crowd.py; echo x > done"#;

#[test]
fn a_crowd_without_a_token_leaves_room_for_those_who_have_one() {
    let (scene, mut gate) = sandboxed("1", "landlock", CROWD);
    let server = Serving::of(&scene, &[]);
    let port = server.address.port().to_string();
    std::fs::write(scene.repo.beside("out/server"), port).unwrap();
    let mut stream = server.listen("/api/events", &[]).unwrap();
    let running = scene.start(&[]);
    gate.wait_for(1);
    for _ in 0..20 {
        let began = Instant::now();
        assert_eq!(server.get("/api/projects").status, 200);
        assert!(began.elapsed() < AT_ONCE, "{:?}", began.elapsed());
    }
    gate.let_go(1);
    running.story().check(0, "1:merged");
    // Who listens already is not put out for it.
    while stream.next_event().unwrap().event != "batch:completed" {}
}

#[test]
fn a_head_has_64_kib_at_most() {
    let (scene, _gate) = sandboxed("1", "landlock", "true");
    let server = Serving::of(&scene, &[]);
    let ask = |padding: usize| {
        let mut stream = server.connect().unwrap();
        let head = format!(
            "GET /health HTTP/1.1\r\nHost: {}\r\nX: {}\r\n\r\n",
            server.address,
            "x".repeat(padding)
        );
        // It may be cut off before it has said everything.
        let _ = stream.write_all(head.as_bytes());
        hear(stream).map(|answer| answer.status)
    };
    assert_eq!(ask(60 << 10).unwrap(), 200);
    for padding in [64 << 10, 70 << 10, 100_000, 400_000] {
        assert!(
            !matches!(ask(padding), Ok(status) if status < 400),
            "{padding}"
        );
    }
}
