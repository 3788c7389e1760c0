//! What events cost a server: many clients listen while agents print and the log grows.
//!
//! Beside it, the same with one client, so that what each further one costs is seen.

#![expect(clippy::print_stdout, reason = "printing is what a benchmark does")]

mod listener;

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use pleach_log::database::{BoardEvent, Database};
use pleach_system::state_folder::StateFolder;
use tempfile::TempDir;

use crate::measure;
use listener::{Delivered, Listener};

const CLIENTS: usize = 200;
const AGENTS: usize = 8;
/// Of each agent, ten times a second; 5,040 a second in all.
const LINES: usize = 63;
/// Events of the log a second, besides those of the batch.
const CHANGES: u64 = 50;
const SECONDS: u64 = 60;
/// For the server to begin, and for the last events to arrive.
const PATIENCE: Duration = Duration::from_mins(1);
const MOST_MILLISECONDS: f64 = 250.0;
const MOST_MEGABYTES: f64 = 150.0;

/// Compares many clients with one, and checks that everybody hears everything in time.
pub(crate) fn run(program: &Path) -> bool {
    let seconds = std::env::var("PLEACH_BENCH_SECONDS").ok();
    let seconds = seconds.and_then(|seconds| seconds.parse().ok());
    let seconds = seconds.unwrap_or(SECONDS).max(4);
    let one = serve(program, 1, seconds / 4);
    let many = serve(program, CLIENTS, seconds);
    println!("{CLIENTS} clients for {seconds} s, {AGENTS} agents with 5,000 lines a second in all");
    println!("  events of the log              {:8}", many.last);
    println!("  delivered                      {:8}", many.delivered);
    let cpu = |served: &Served| served.cpu / served.seconds;
    measure::figure("  CPU a second, one client", cpu(&one));
    measure::figure("  CPU a second", cpu(&many));
    measure::figure("  times one client", cpu(&many) / cpu(&one).max(0.001));
    measure::figure("  50th percentile, ms", many.percentile(50));
    let late = many.percentile(99);
    let in_time = measure::verdict("  99th percentile, ms", late, MOST_MILLISECONDS);
    let small = measure::verdict("  megabytes", many.megabytes, MOST_MEGABYTES);
    let complete = many.missing == 0 && one.missing == 0;
    let word = if complete { "ok" } else { "NOT IN ORDER" };
    println!("  every event, in order, to every client: {word}");
    in_time && small && complete
}

/// What came of serving for a while.
struct Served {
    seconds: f64,
    cpu: f64,
    megabytes: f64,
    /// The number of the last event.
    last: u64,
    delivered: u64,
    /// Clients that did not hear all of it in order.
    missing: usize,
    /// How late events were, in milliseconds, sorted.
    delays: Vec<u32>,
}

impl Served {
    fn percentile(&self, percent: usize) -> f64 {
        let place = self.delays.len().saturating_sub(1) * percent / 100;
        self.delays
            .get(place)
            .map_or(f64::INFINITY, |delay| f64::from(*delay))
    }
}

fn serve(program: &Path, clients: usize, seconds: u64) -> Served {
    let place = ServeSetup::new(seconds);
    let server = Server::start(program, &place);
    let last = Arc::new(AtomicU64::new(u64::MAX));
    let listen = |_| Listener::start(server.address, &server.token, &last);
    let listeners: Vec<Listener> = (0..clients).map(listen).collect();
    let (before, began) = (server.cpu(), Instant::now());
    let mut batch = place.pleach(program, &["run", "-j", "8", "--yes"]);
    let batch = batch.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut batch = batch.expect("pleach runs");
    change(&place, seconds);
    assert!(
        batch.wait().expect("it was started").success(),
        "the batch completes"
    );
    let final_seq = note(&mut place.database(), 0);
    last.store(final_seq, Ordering::SeqCst);
    let heard: Vec<Delivered> = listeners
        .into_iter()
        .map(|listener| listener.finish(PATIENCE))
        .collect();
    let took = began.elapsed().as_secs_f64();
    let mut delays: Vec<u32> = heard
        .iter()
        .flat_map(|heard| heard.delays.iter().copied())
        .collect();
    delays.sort_unstable();
    Served {
        seconds: took,
        cpu: server.cpu() - before,
        megabytes: server.megabytes(),
        last: final_seq,
        delivered: delays.len() as u64,
        missing: heard.iter().filter(|heard| heard.last != final_seq).count(),
        delays,
    }
}

/// Has the log grow for a while, as people at a board would.
fn change(place: &ServeSetup, seconds: u64) {
    let (began, mut database) = (Instant::now(), place.database());
    for number in 0..CHANGES * seconds {
        note(&mut database, number);
        let next = Duration::from_millis(1_000 / CHANGES * (number + 1));
        std::thread::sleep(next.saturating_sub(began.elapsed()));
    }
}

fn note(database: &mut Database, number: u64) -> u64 {
    let event = BoardEvent::TaskDeleted {
        task: format!("task-{number}"),
    };
    let noted = database.note_board_event(Some("bench"), &event);
    noted.expect("there is room")
}

/// A server that is ended when dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
}

impl Server {
    fn start(program: &Path, place: &ServeSetup) -> Self {
        let command = place.pleach(program, &["serve", "--port", "0", "--json", "--log", "off"]);
        Self::of(command, &place.state())
    }

    /// A server by a command that says on its output where it is, and has its token in its state folder.
    pub(crate) fn of(mut command: Command, state: &Path) -> Self {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = child.expect("pleach serves");
        let mut line = String::new();
        let output = child.stdout.as_mut().expect("it is piped");
        BufReader::new(output)
            .read_line(&mut line)
            .expect("it says where it is");
        let address = line
            .split("http://")
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        let address = address.and_then(|address| address.trim_end_matches('/').parse().ok());
        let token = std::fs::read_to_string(state.join("token"));
        Self {
            child,
            address: address.expect("it says where it is"),
            token: token.expect("it has a token").trim().to_owned(),
        }
    }

    fn cpu(&self) -> f64 {
        measure::seconds_of_process(&self.child.id().to_string())
    }

    fn megabytes(&self) -> f64 {
        let bytes = measure::peak_memory_of(&self.child.id().to_string());
        #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
        let megabytes = bytes as f64 / f64::from(1 << 20);
        megabytes
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A repository with as many tasks as there are agents, each of which prints for that long.
struct ServeSetup {
    folder: TempDir,
}

impl ServeSetup {
    fn new(seconds: u64) -> Self {
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() {
            tempfile::tempdir_in(memory)
        } else {
            tempfile::tempdir()
        };
        let place = Self {
            folder: folder.expect("there is a place for temporary files"),
        };
        let repository = place.repository();
        std::fs::create_dir_all(&repository).expect("the folder is ours");
        let lines = (1..=AGENTS).map(|number| format!("- [ ] Piece of work {number}\n"));
        place.write("TODO.md", &lines.collect::<String>());
        let said = "test cli::serve::a_line_of_a_log ... ok (12 ms)\\n".repeat(LINES);
        let turns = seconds * 10;
        let script = format!(
            "i=0\nwhile [ $i -lt {turns} ]; do printf '{said}'; sleep 0.1; i=$((i+1)); done\n"
        );
        place.write("agent.sh", &script);
        place.write(
            "pleach.toml",
            "agent = \"mine\"\nparallel_limit = 64\nno_changes = \"done\"\nplan = \"TODO.md\"\n[agents.mine]\ncommand = [\"sh\", \"agent.sh\"]\n",
        );
        for words in [
            &["init", "--quiet", "--initial-branch=main", "."][..],
            &["add", "--all"],
            &["commit", "--quiet", "--message", "begin"],
        ] {
            let mut git = Command::new("git");
            git.args(["-c", "user.name=A", "-c", "user.email=a@example.com"])
                .args(words);
            place.isolate(&mut git);
            assert!(git.status().expect("git runs").success());
        }
        place
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.repository().join(name), text).expect("there is room");
    }

    fn repository(&self) -> PathBuf {
        self.folder.path().join("repository")
    }

    fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    fn database(&self) -> Database {
        let state = StateFolder::at(&self.state()).expect("the folder is ours");
        Database::open(&state).expect("there is room")
    }

    fn isolate(&self, command: &mut Command) {
        command
            .env("HOME", self.folder.path())
            .env("XDG_CONFIG_HOME", self.folder.path().join("config"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("PLEACH_HOME", self.state())
            .current_dir(self.repository())
            .stdin(Stdio::null());
    }

    fn pleach(&self, program: &Path, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(words);
        self.isolate(&mut command);
        command
    }
}
