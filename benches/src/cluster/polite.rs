//! A hundred units that run for minutes: what that asks of Slurm and of the share, and how soon people see what is printed.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use pleach_log::batch_paths::attempt_folder;
use pleach_system::state_folder::StateFolder;
use pleach_testkit::{Scene, SlurmCluster};

use super::opens::Opens;
use super::{CountedCalls, LOOK, PATIENCE, Run, empty, ours, scene_with};
use crate::measure;
use crate::serve::Server;

const UNITS: usize = 100;
const WATCHED: Duration = Duration::from_mins(5);
const MOST_OPENS: f64 = 1.0;

/// So many lines are printed on a node, one every 1.3 seconds, each with the time of day.
const LINES: usize = 80;
const MOST_SECONDS: f64 = 2.5;
const MOST_SECONDS_ON_BOARD: f64 = 3.0;

/// So many lines of a hundred bytes are printed at once, with a secret in each.
const MANY_LINES: usize = 1_000_000;
const CANARY: &str = "c4n4ry-that-nobody-may-see-0123456789";

/// The first task prints lines, the second one very many; all stay until they are ended.
fn shell() -> String {
    let rest = "x".repeat(100 - CANARY.len() - 2);
    format!(
        "case $PLEACH_TASK in \
         1) until [ -e 'BESIDE/print' ]; do sleep 0.5; done; i=0; \
            while [ $i -lt {LINES} ]; do date +%s.%N; sleep 1.3; i=$((i+1)); done;; \
         2) until [ -e 'BESIDE/flood' ]; do sleep 0.5; done; \
            yes \"{rest} $CANARY\" | head -n {MANY_LINES}; echo 'the end';; \
         esac; until [ -e 'BESIDE/go' ]; do sleep 5; done"
    )
}

pub(super) fn run(program: &Path) -> bool {
    let cluster = SlurmCluster::start_wide(2, UNITS);
    let scene = scene_with(UNITS, "task_timeout = \"20m\"\n", &shell());
    let config = scene.repo.path().join("pleach.toml");
    let mut text = fs::read_to_string(&config).expect("it is there");
    text.push_str("env = [\"CANARY\"]\n");
    fs::write(config, text).expect("there is room");
    let counted = CountedCalls::before(&scene, "squeue");
    let mut command = ours(program, &cluster, &scene);
    command.args(["run", "--yes", "--json"]);
    command.env("PATH", &counted.path).env("CANARY", CANARY);
    let began = Instant::now();
    let run = Run::of(command);
    for _ in 0..UNITS {
        run.wait_for("batch:task:placed");
    }
    println!(
        "{UNITS} units run after {:.0} s",
        began.elapsed().as_secs_f64()
    );
    let mut opens = Opens::of(&submissions(&scene));
    let since = Instant::now();
    let live = live(program, &cluster, &scene, &mut opens);
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let each = f64::from(opens.so_far()) / since.elapsed().as_secs_f64() / UNITS as f64;
    let much = much(&scene);
    std::thread::sleep(WATCHED.saturating_sub(began.elapsed()));
    let seconds = began.elapsed().as_secs_f64();
    let calls = counted.verdict(seconds);
    let peak = measure::peak_memory_of(&run.process());
    run.kill();
    empty(&cluster);
    let opens = measure::verdict("  opens a second and unit", each, MOST_OPENS);
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    measure::figure("  memory of pleach in MB", peak as f64 / 1e6);
    calls && opens && live && much
}

fn submissions(scene: &Scene) -> Vec<PathBuf> {
    let homes = fs::read_dir(scene.repo.beside("share")).expect("it is there");
    let homes = homes.flatten().filter(|home| home.file_name().len() == 12);
    let inside = homes.flat_map(|home| fs::read_dir(home.path()).into_iter().flatten());
    let paths = inside.flatten().map(|entry| entry.path());
    paths.filter(|path| path.is_dir()).collect()
}

fn state(scene: &Scene) -> PathBuf {
    scene.repo.beside("home/.local/state/pleach")
}

fn log(scene: &Scene, task: &str) -> PathBuf {
    let state = StateFolder::at(&state(scene)).expect("it is there");
    attempt_folder(&state.batch(1), task, 1).join("agent.log")
}

/// How soon lines are in the log that somebody follows, and on the board.
fn live(program: &Path, cluster: &SlurmCluster, scene: &Scene, opens: &mut Opens) -> bool {
    let mut serve = ours(program, cluster, scene);
    serve.args(["serve", "--port", "0", "--json", "--log", "off"]);
    let server = Server::of(serve, &state(scene));
    let board = counts_of(&server);
    let mut follow = ours(program, cluster, scene);
    follow.args(["logs", "1", "1", "-f"]);
    let follow = Run::of(follow);
    fs::write(scene.repo.beside("print"), "").expect("there is room");
    let (mut printed, mut delays) = (Vec::new(), Vec::new());
    while printed.len() < LINES {
        opens.so_far();
        let told = follow.told.recv_timeout(PATIENCE);
        let (_, line) = told.expect("lines are printed");
        if let Ok(at) = line.trim().parse::<f64>() {
            delays.push(now() - at);
            printed.push(at);
        }
    }
    follow.kill();
    let mut on_board = Vec::new();
    while on_board.len() < LINES {
        let (at, total) = board.recv_timeout(PATIENCE).expect("they are on the board");
        let shown = printed.iter().take(total).skip(on_board.len());
        on_board.extend(shown.map(|printed| at - printed));
    }
    let logs = measure::verdict("  logs -f, 99th percentile, s", late(delays), MOST_SECONDS);
    let on_board = late(on_board);
    let board = measure::verdict(
        "  board, 99th percentile, s",
        on_board,
        MOST_SECONDS_ON_BOARD,
    );
    logs && board
}

fn now() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.expect("it is later than 1970").as_secs_f64()
}

fn late(mut delays: Vec<f64>) -> f64 {
    delays.sort_by(f64::total_cmp);
    delays[(delays.len() - 1) * 99 / 100]
}

/// When the board hears how many lines the first task has printed.
fn counts_of(server: &Server) -> Receiver<(f64, usize)> {
    let (address, token) = (server.address, &server.token);
    let mut stream = TcpStream::connect(address).expect("the server listens");
    let head = format!(
        "GET /api/events HTTP/1.0\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).expect("the server reads");
    let (say, counts) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let total = line.split("\"total\":").nth(1).unwrap_or_default();
            let total = total.split(|letter: char| !letter.is_ascii_digit()).next();
            let total = total.and_then(|total| total.parse().ok());
            if let Some(total) = total.filter(|_| line.contains("\"key\":\"1\"")) {
                let _ = say.send((now(), total));
            }
        }
    });
    counts
}

/// Whether very much output comes over whole, without the secret in it.
fn much(scene: &Scene) -> bool {
    let log = log(scene, "2");
    let began = Instant::now();
    fs::write(scene.repo.beside("flood"), "").expect("there is room");
    let text = loop {
        let text = fs::read_to_string(&log).unwrap_or_default();
        if text.ends_with("the end\n") {
            break text;
        }
        assert!(began.elapsed() < PATIENCE, "{} bytes came", text.len());
        std::thread::sleep(LOOK * 10);
    };
    let took = began.elapsed().as_secs_f64();
    measure::figure("  100 MB of output, s until here", took);
    let first = text.lines().next().unwrap_or_default();
    let same = text.lines().filter(|line| *line == first).count();
    let is_whole = same == MANY_LINES && text.lines().count() == MANY_LINES + 1;
    let is_hidden = first.len() > 60 && !text.contains(CANARY);
    for (what, is_so) in [
        ("every line is here", is_whole),
        ("and no secret is", is_hidden),
    ] {
        println!("  {what}: {}", if is_so { "ok" } else { "NO" });
    }
    is_whole && is_hidden
}
