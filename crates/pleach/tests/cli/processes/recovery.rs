//! Engines and wrappers that are killed, and what finds the rest afterwards.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use pleach_system::process::{Cancel, Ending, ProcessIdentity, Shim, end_leftovers, load_record};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};

use super::{Ground, HIDDEN, HOSTILE, HOSTILES, Held, LONG, SOON, launch, run, traces_of};

const ROLE: &str = "PLEACH_TEST_ROLE";
const FOLDER: &str = "PLEACH_TEST_FOLDER";

/// An engine in a process of its own, so that it can be killed.
struct Engine {
    process: Child,
    wrapper: ProcessIdentity,
}

impl Engine {
    fn start(role: &str, ground: &Ground) -> Self {
        let mut process = Command::new("/proc/self/exe")
            .args(["--exact", "processes::recovery::the_role_of_an_engine"])
            .arg("--nocapture")
            .env(ROLE, role)
            .env(FOLDER, ground.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.as_mut().unwrap()).lines();
        let mut lines = lines.map(Result::unwrap);
        let wrapper = lines.find_map(|line| serde_json::from_str(&line[line.find('{')?..]).ok());
        Self {
            wrapper: wrapper.expect("the engine tells who the wrapper is"),
            process,
        }
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    fn wrapper_pid(&self) -> Pid {
        Pid::from_raw(self.wrapper.pid).unwrap()
    }
}

/// What the process of an `Engine` does; nothing in an ordinary run of the tests.
#[test]
fn the_role_of_an_engine() {
    let (Ok(role), Some(folder)) = (std::env::var(ROLE), std::env::var_os(FOLDER)) else {
        return;
    };
    let shim = launch();
    let identity = serde_json::to_string(shim.identity()).unwrap();
    writeln!(std::io::stdout(), "\n{identity}").unwrap();
    let script = match role.as_str() {
        "run hostile" => format!("{HOSTILE}{HIDDEN}sleep 1000"),
        "run hostile but not hidden" => format!("{HOSTILE}sleep 1000"),
        _ => {
            // Held until it is killed.
            std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
            return;
        }
    };
    run_for(&PathBuf::from(folder), shim, &script);
}

fn run_for(folder: &Path, shim: Shim, script: &str) {
    let ground = Ground::new();
    let mut spec = ground.spec(script);
    spec.cwd = folder.join("work");
    spec.log = folder.join("log");
    spec.record = folder.join("exit.json");
    shim.run(&spec, &Cancel::default()).unwrap();
}

#[track_caller]
fn wait_for_end_of(pid: Pid) {
    // One that cannot be held has ended.
    let Ok(pidfd) = pidfd_open(pid, PidfdFlags::empty()) else {
        return;
    };
    let mut fds = [PollFd::from_borrowed_fd(pidfd.as_fd(), PollFlags::IN)];
    let ready = poll(&mut fds, Some(&Timespec::try_from(SOON).unwrap())).unwrap();
    assert!(ready > 0, "{pid:?} does not end");
}

#[test]
fn a_hostile_family_is_gone_when_the_engine_is_killed() {
    let ground = Ground::new();
    let mut held = Held::open(&ground.gate("held"));
    let mut engine = Engine::start("run hostile", &ground);
    held.wait_for_lines(HOSTILES + 1);
    let killed = Instant::now();
    engine.kill();
    held.wait_for_end();
    assert!(killed.elapsed() < Duration::from_secs(5));
    wait_for_end_of(engine.wrapper_pid());
    let record = load_record(&ground.path("exit.json"), &engine.wrapper.nonce).unwrap();
    assert_eq!(record.ending, Ending::Abandoned);
    assert_eq!(traces_of(&record.nonce, &ground.path("work")).len(), 0);
}

#[test]
fn a_wrapper_that_is_asked_to_end_takes_its_family_along() {
    let ground = Ground::new();
    let mut held = Held::open(&ground.gate("held"));
    let mut spec = ground.spec(&format!("{HOSTILE}{HIDDEN}sleep 1000"));
    spec.grace = Duration::from_millis(100);
    let shim = launch();
    let wrapper = Pid::from_raw(shim.identity().pid).unwrap();
    let running = thread::spawn(move || shim.run(&spec, &Cancel::default()).unwrap());
    held.wait_for_lines(HOSTILES + 1);
    kill_process(wrapper, Signal::TERM).unwrap();
    let record = running.join().unwrap();
    super::check_gone(&mut held, &record, &ground, &Ending::Abandoned);
}

#[test]
fn nothing_is_started_when_the_engine_is_killed_before_it_said_what() {
    let ground = Ground::new();
    let mut engine = Engine::start("say nothing", &ground);
    let wrapper = engine.wrapper_pid();
    let pidfd = pidfd_open(wrapper, PidfdFlags::empty()).unwrap();
    engine.kill();
    let mut fds = [PollFd::from_borrowed_fd(pidfd.as_fd(), PollFlags::IN)];
    let ready = poll(&mut fds, Some(&Timespec::try_from(SOON).unwrap())).unwrap();
    assert!(ready > 0, "the wrapper waits for ever");
    let ended = end_leftovers(&engine.wrapper, &ground.path("work"), Duration::ZERO).unwrap();
    assert_eq!(ended, Vec::<i32>::new());
    assert!(!ground.path("exit.json").exists() && !ground.path("log").exists());
}

/// Who has left the family for good and hides is not looked for here: nothing but the wrapper knew of it.
#[test]
fn a_killed_wrapper_is_noticed_and_its_family_found() {
    let ground = Ground::new();
    let mut held = Held::open(&ground.gate("held"));
    // Hides, but below somebody who does not.
    let below = "(cd /; exec env -i PATH=\"$PATH\" sh -c 'echo below >&9; sleep 1000; :') &\n";
    let spec = ground.spec(&format!("{HOSTILE}{below}sleep 1000; :"));
    let shim = launch();
    let wrapper = Pid::from_raw(shim.identity().pid).unwrap();
    let running = thread::spawn(move || shim.run(&spec, &Cancel::default()).unwrap());
    held.wait_for_lines(HOSTILES + 1);
    kill_process(wrapper, Signal::KILL).unwrap();
    let record = running.join().unwrap();
    super::check_gone(&mut held, &record, &ground, &Ending::Vanished);
    assert!(record.leaked.len() > HOSTILES, "{:?}", record.leaked);
}

/// As by Ctrl-C, which reaches a wrapper that has not left the terminal yet.
#[test]
fn a_wrapper_that_is_asked_to_end_before_it_knows_what_to_run_is_no_accident() {
    let ground = Ground::new();
    for signal in [Signal::INT, Signal::TERM] {
        let shim = launch();
        let wrapper = Pid::from_raw(shim.identity().pid).unwrap();
        kill_process(wrapper, signal).unwrap();
        let record = shim.run(&ground.spec("touch it"), &Cancel::default());
        assert_eq!(record.unwrap().ending, Ending::Cancelled);
        assert!(!ground.path("work/it").exists());
    }
}

#[test]
fn what_engine_and_wrapper_left_is_ended_afterwards() {
    let ground = Ground::new();
    let mut held = Held::open(&ground.gate("held"));
    let mut engine = Engine::start("run hostile but not hidden", &ground);
    held.wait_for_lines(HOSTILES);
    // It must not clear up after its wrapper.
    kill_process(Pid::from_child(&engine.process), Signal::STOP).unwrap();
    kill_process(engine.wrapper_pid(), Signal::KILL).unwrap();
    engine.kill();
    assert!(!held.is_free());
    let ended = end_leftovers(&engine.wrapper, &ground.path("work"), SOON).unwrap();
    assert!(held.is_free(), "somebody of {:?} lives", held.said());
    assert!(ended.len() >= HOSTILES, "{ended:?}");
    let ended = end_leftovers(&engine.wrapper, &ground.path("work"), SOON).unwrap();
    assert_eq!(ended, Vec::<i32>::new());
}

#[test]
fn a_wrapper_that_is_ending_is_waited_for() {
    let ground = Ground::new();
    let mut held = Held::open(&ground.gate("held"));
    let mut engine = Engine::start("run hostile", &ground);
    held.wait_for_lines(HOSTILES + 1);
    engine.kill();
    let ended = end_leftovers(&engine.wrapper, &ground.path("work"), SOON).unwrap();
    assert_eq!(ended, Vec::<i32>::new());
    assert!(held.is_free(), "somebody of {:?} lives", held.said());
    let record = load_record(&ground.path("exit.json"), &engine.wrapper.nonce).unwrap();
    assert_eq!(record.ending, Ending::Abandoned);
}

#[test]
fn a_wrapper_that_hangs_is_made_to_end() {
    let ground = Ground::new();
    let mut held = Held::open(&ground.gate("held"));
    let mut engine = Engine::start("run hostile", &ground);
    held.wait_for_lines(HOSTILES + 1);
    kill_process(engine.wrapper_pid(), Signal::STOP).unwrap();
    engine.kill();
    end_leftovers(&engine.wrapper, &ground.path("work"), Duration::ZERO).unwrap();
    assert!(held.is_free(), "somebody of {:?} lives", held.said());
}

/// Somebody whom nothing may happen to.
struct Bystander {
    process: Child,
    input: File,
    output: ChildStdout,
}

impl Bystander {
    /// Has no terminal, whoever runs the tests.
    fn in_folder(folder: &Path) -> Self {
        let mut process = Command::new("setsid");
        process.arg("cat").stdin(Stdio::piped());
        let mut process = Self::start(process, folder);
        let input = OwnedFd::from(process.stdin.take().unwrap());
        Self::of(process, input.into())
    }

    /// Sits at a terminal of its own.
    fn at_terminal(folder: &Path) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        let terminal = openpt(flags).unwrap();
        unlockpt(&terminal).unwrap();
        let seat = ioctl_tiocgptpeer(&terminal, flags).unwrap();
        let mut process = Command::new("setsid");
        process.args(["--ctty", "cat"]).stdin(seat);
        Self::of(Self::start(process, folder), terminal.into())
    }

    fn start(mut process: Command, folder: &Path) -> Child {
        process.current_dir(folder).stdout(Stdio::piped());
        process.spawn().unwrap()
    }

    fn of(mut process: Child, input: File) -> Self {
        let output = process.stdout.take().unwrap();
        let mut bystander = Self {
            process,
            input,
            output,
        };
        bystander.check_alive();
        bystander
    }

    #[track_caller]
    fn check_alive(&mut self) {
        self.input.write_all(b"?\n").unwrap();
        self.output.read_exact(&mut [0; 2]).unwrap();
    }

    fn start_time(&self) -> u64 {
        let stat = format!("/proc/{}/stat", self.process.id());
        let stat = std::fs::read_to_string(stat).unwrap();
        let (_, fields) = stat.rsplit_once(')').unwrap();
        fields.split_whitespace().nth(19).unwrap().parse().unwrap()
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn boot_id() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    id.trim().to_owned()
}

#[test]
fn a_number_that_belongs_to_somebody_else_now_is_not_signalled() {
    let ground = Ground::new();
    let mut bystander = Bystander::in_folder(ground.folder.path());
    let real = ProcessIdentity {
        boot_id: boot_id(),
        pid: i32::try_from(bystander.process.id()).unwrap(),
        start_time: bystander.start_time(),
        nonce: "nobody's".to_owned(),
    };
    let earlier = ProcessIdentity {
        start_time: real.start_time - 1,
        ..real.clone()
    };
    let later = ProcessIdentity {
        start_time: real.start_time + 1,
        ..real.clone()
    };
    let before_the_start = ProcessIdentity {
        boot_id: "another life".to_owned(),
        ..real.clone()
    };
    for identity in [earlier, later, before_the_start] {
        let ended = end_leftovers(&identity, &ground.path("work"), Duration::ZERO).unwrap();
        assert_eq!(ended, Vec::<i32>::new(), "{identity:?}");
        bystander.check_alive();
    }
    // The same words do end the one that they are true of.
    let ended = end_leftovers(&real, &ground.path("work"), Duration::ZERO);
    assert_eq!(ended.unwrap(), Vec::<i32>::new());
    let status = bystander.process.wait().unwrap();
    assert!(!status.success(), "{status}");
}

#[test]
fn those_who_were_there_before_or_stand_beside_are_left_alone() {
    let ground = Ground::new();
    std::fs::create_dir(ground.path("work-2")).unwrap();
    let mut before = Bystander::in_folder(&ground.path("work"));
    // The clock of start times must go on by a tick, for which a process in the meantime is long enough.
    let begin = before.start_time();
    while Bystander::in_folder(&ground.path("work-2")).start_time() <= begin + 1 {}
    let identity = launch().identity().clone();
    let mut beside = Bystander::in_folder(&ground.path("work-2"));
    let mut above = Bystander::in_folder(ground.folder.path());
    let mut visitor = Bystander::at_terminal(&ground.path("work"));
    let inside = Bystander::in_folder(&ground.path("work"));
    let ended = end_leftovers(&identity, &ground.path("work"), LONG).unwrap();
    let expected = i32::try_from(inside.process.id()).unwrap();
    assert_eq!(ended, [expected]);
    for bystander in [&mut before, &mut beside, &mut above, &mut visitor] {
        bystander.check_alive();
    }
}

#[test]
fn those_whose_folder_is_gone_are_found_as_well() {
    let ground = Ground::new();
    let identity = launch().identity().clone();
    let mut inside = Bystander::in_folder(&ground.path("work"));
    inside.check_alive();
    std::fs::remove_dir(ground.path("work")).unwrap();
    let ended = end_leftovers(&identity, &ground.path("work"), SOON).unwrap();
    assert_eq!(ended, [i32::try_from(inside.process.id()).unwrap()]);
}

#[test]
fn a_program_that_can_not_be_a_wrapper_is_told() {
    assert!(Shim::launch(Path::new("/nowhere/pleach")).is_err());
    let ground = Ground::new();
    let spec = ground.spec("true");
    // It takes no orders, and ends.
    let shim = Shim::launch(Path::new("/bin/true")).unwrap();
    let record = shim.run(&spec, &Cancel::default()).unwrap();
    assert_eq!(record.ending, Ending::Vanished);
    assert_eq!(run(&spec).ending, Ending::Exited(0));
}
