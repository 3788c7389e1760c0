//! Programs under the wrapper: every way one can end, and that nothing of it is left.

mod endings;
mod families;
mod hiding;
mod output;
mod recovery;

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use pleach_system::process::{
    Cancel, Ending, Isolation, LOG_CAP, NONCE, ProcessRecord, ProcessSpec, Shim, load_record,
};
use pleach_system::secrets::Secrets;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode, OFlags};
use tempfile::TempDir;

/// Longer than any test takes; when it matters, something is broken.
const LONG: Duration = Duration::from_mins(10);

/// How long an event may take that must come.
const SOON: Duration = Duration::from_secs(20);

/// Shell that starts whatever is hard to end; each writes a line to the pipe at 9 when it is there, and holds it open.
const HOSTILE: &str = "exec 9> held
(echo child >&9; exec sleep 1000) &
(trap '' TERM; echo stubborn >&9; while :; do sleep 1000; done) &
setsid sh -c '(echo daemon >&9; exec sleep 1000) &'
env -i PATH=\"$PATH\" setsid sh -c '(trap \"\" TERM; echo scrubbed >&9; while :; do sleep 1000; done) &'
(cd /; setsid sh -c '(trap \"\" TERM; echo elsewhere >&9; while :; do sleep 1000; done) &')
";

const HOSTILES: usize = 5;

/// The one that neither its environment nor its folder betrays.
const HIDDEN: &str = "(cd /; env -i PATH=\"$PATH\" setsid sh -c '(trap \"\" TERM; echo hidden >&9; while :; do sleep 1000; done) &')\n";

/// A folder for a program to run in, with its log and its record.
struct Ground {
    folder: TempDir,
}

impl Ground {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn spec(&self, script: &str) -> ProcessSpec {
        let path = std::env::var_os("PATH").unwrap();
        ProcessSpec {
            argv: ["sh", "-c", script].map(Into::into).to_vec(),
            cwd: self.path("work"),
            env: vec![("PATH".into(), path)],
            stdin_file: None,
            log: self.path("log"),
            record: self.path("exit.json"),
            timeout: LONG,
            stall: None,
            grace: LONG,
            log_cap: LOG_CAP,
            hide: Secrets::default(),
            sandbox: None,
            isolation: Isolation::default(),
            polite: None,
        }
    }

    fn run(&self, script: &str) -> ProcessRecord {
        run(&self.spec(script))
    }

    fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap()
    }

    /// A named pipe in the folder of the program.
    fn gate(&self, name: &str) -> PathBuf {
        let path = self.path("work").join(name);
        rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0).unwrap();
        path
    }
}

fn launch() -> Shim {
    Shim::launch(Path::new(env!("CARGO_BIN_EXE_pleach"))).unwrap()
}

/// Runs a program that nobody cancels; what is told is what is on the disk.
fn run(spec: &ProcessSpec) -> ProcessRecord {
    let shim = launch();
    let nonce = shim.identity().nonce.clone();
    let record = shim.run(spec, &Cancel::default()).unwrap();
    assert_eq!(load_record(&spec.record, &nonce).as_ref(), Some(&record));
    record
}

/// The reading end of a pipe that processes hold open as long as they live.
struct Held {
    pipe: File,
    heard: Vec<u8>,
}

impl Held {
    fn open(gate: &Path) -> Self {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let pipe = rustix::fs::open(gate, flags, Mode::empty()).unwrap();
        Self {
            pipe: pipe.into(),
            heard: Vec::new(),
        }
    }

    /// Waits until so many processes have said that they are there.
    #[track_caller]
    fn wait_for_lines(&mut self, lines: usize) {
        while self.said().lines().count() < lines {
            self.wait();
            let mut bytes = [0; 256];
            let length = match self.pipe.read(&mut bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                read => read.unwrap(),
            };
            assert!(length > 0, "all ended after {:?}", self.said());
            self.heard.extend_from_slice(&bytes[..length]);
        }
    }

    /// Waits until nobody is left who holds it.
    #[track_caller]
    fn wait_for_end(&mut self) {
        while !self.is_free() {
            self.wait();
        }
    }

    #[track_caller]
    fn wait(&self) {
        let mut fds = [PollFd::new(&self.pipe, PollFlags::IN)];
        let soon = Timespec::try_from(SOON).unwrap();
        let ready = poll(&mut fds, Some(&soon)).unwrap();
        assert!(ready > 0, "nothing happens after {:?}", self.said());
    }

    /// Whether nobody holds it now.
    fn is_free(&mut self) -> bool {
        match self.pipe.read_to_end(&mut self.heard) {
            Ok(_) => true,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => false,
            Err(error) => panic!("{error}"),
        }
    }

    fn said(&self) -> String {
        String::from_utf8_lossy(&self.heard).into_owned()
    }
}

/// Lets a program go on that waits at a gate.
fn open_gate(gate: &Path) {
    drop(File::options().write(true).open(gate).unwrap());
}

/// Every process that a nonce or its folder betrays.
fn traces_of(nonce: &str, folder: &Path) -> Vec<String> {
    let folder = folder.canonicalize().unwrap();
    let variable = format!("{NONCE}={nonce}");
    let is_one = |path: &Path| {
        let environment = fs::read(path.join("environ")).unwrap_or_default();
        let mut variables = environment.split(|byte| *byte == 0);
        variables.any(|found| found == variable.as_bytes())
            || fs::read_link(path.join("cwd")).is_ok_and(|cwd| cwd.starts_with(&folder))
    };
    let all = fs::read_dir("/proc").unwrap().flatten();
    all.filter(|entry| is_one(&entry.path()))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

/// Checks that a program is over, its hostile family included.
#[track_caller]
fn check_gone(held: &mut Held, record: &ProcessRecord, ground: &Ground, ending: &Ending) {
    assert!(held.is_free(), "somebody of {:?} lives", held.said());
    assert_eq!(
        traces_of(&record.nonce, &ground.path("work")),
        Vec::<String>::new()
    );
    assert_eq!((&record.ending, record.survivors.len()), (ending, 0));
}
