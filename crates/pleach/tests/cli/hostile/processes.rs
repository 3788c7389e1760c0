//! Attacks by system calls: limits, descriptors, terminals, sockets, the network, and processes that hide.

mod network;
mod older_landlock;
mod others;
mod sockets;
mod versions;
pub(super) mod without_landlock;

use std::fs;
use std::path::Path;
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::command;
use crate::scene::{Gate, Running, Scene, Story, WAIT};

const ONE: &str = "- [ ] 1 A\n";

/// Nothing is open but what always is.
const CLOSED: &str = "retries = 0\nsandbox_write = []";

/// Nothing holds the agent.
const UNHELD: &str = "retries = 0\nsandbox = \"none\"";

/// A scene whose agent is a program of Python, which notes in `done` what it could do.
fn python(settings: &str, lines: &str) -> Scene {
    let scene = Scene::with(settings, ONE, "");
    write_python(&scene, settings, lines);
    scene
}

/// Has a scene's agent be such a program.
fn write_python(scene: &Scene, settings: &str, lines: &str) {
    let above = "import ctypes, os, resource, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def parent(pid):
    return int(open(f'/proc/{pid}/stat').read().rsplit(')', 1)[1].split()[1])
wrapper = parent(os.getppid())
engine = parent(wrapper)
def attempt(name, attack):
    try:
        if attack() == -1:
            raise OSError(ctypes.get_errno(), 'refused')
        print(name, 'done', file=done)
    except OSError as error:
        print(name, error.errno, file=done)
";
    let script = scene.repo.beside("agent.py");
    let text = format!("{above}done = open('done', 'w')\n{lines}\ndone.close()\n");
    fs::write(
        &script,
        text.replace("BESIDE", scene.repo.beside("").to_str().unwrap()),
    )
    .unwrap();
    scene.configure(settings, &format!("python3 {}; true", script.display()));
}

/// What the agent of such a scene could do.
#[track_caller]
fn done(scene: &Scene) -> String {
    scene.show("pleach/batch-1", "done").replace('\n', ", ")
}

#[test]
fn files_that_the_users_shell_left_open_do_not_reach_an_agent() {
    let shell =
        "cat <&7 > stolen 2> /dev/null; echo evil >&8; test -s stolen || rm -f stolen; echo x > x";
    let scene = Scene::with(CLOSED, ONE, shell);
    let (key, profile) = (scene.repo.beside("key"), scene.repo.beside("profile"));
    fs::write(&key, "secret").unwrap();
    fs::write(&profile, "as before").unwrap();
    let shell = "exec 7< \"$0\" 8>> \"$1\"; shift; exec \"$@\"";
    let plain = command(
        scene.repo.path(),
        &scene.home(),
        &["run", "--yes", "--json"],
    );
    let mut from_shell = Command::new("sh");
    from_shell
        .args(["-c", shell])
        .args([&key, &profile])
        .arg(plain.get_program())
        .args(plain.get_args())
        .current_dir(scene.repo.path())
        .env("HOME", scene.home())
        .env("GIT_CONFIG_NOSYSTEM", "1");
    let story = Story::of(&from_shell.output().unwrap().into());
    story.check(0, "1:merged");
    assert_eq!(scene.new_files("pleach/batch-1"), "x");
    assert_eq!(fs::read_to_string(profile).unwrap(), "as before");
}

#[test]
fn an_agent_cannot_limit_what_watches_over_it() {
    let lines = "for name, pid in (('wrapper', wrapper), ('engine', engine)):
    for what in ('FSIZE', 'CPU', 'CORE', 'NOFILE'):
        limit = getattr(resource, 'RLIMIT_' + what)
        attempt(name + '-' + what, lambda: resource.prlimit(pid, limit, (1, 1)))
attempt('own', lambda: resource.prlimit(0, resource.RLIMIT_CPU, (50, 50)))
print('much output ' * 1000)";
    let scene = python(CLOSED, lines);
    scene.story(&[]).check(0, "1:merged");
    let done = done(&scene);
    assert_eq!(done.matches(" 1,").count(), 8, "{done}");
    assert!(done.ends_with("own done"), "{done}");
}

#[test]
fn system_calls_that_reach_into_other_processes_or_the_kernel_are_refused() {
    let lines = "import fcntl, platform
arm = platform.machine() == 'aarch64'
number = {'kcmp': 272 if arm else 312, 'process_vm_readv': 270 if arm else 310, 'process_vm_writev': 271 if arm else 311,
    'userfaultfd': 282 if arm else 323, 'add_key': 217 if arm else 248, 'keyctl': 219 if arm else 250, 'bpf': 280 if arm else 321,
    'perf_event_open': 241 if arm else 298, 'open_by_handle_at': 265 if arm else 304, 'pidfd_getfd': 438}
own = os.getpid()
for name, call in number.items():
    attempt(name, lambda: libc.syscall(call, own, own, 0, 0, 0, 0))
leader, follower = os.openpty()
attempt('TIOCSTI', lambda: fcntl.ioctl(follower, 0x5412, b'x'))
attempt('TIOCLINUX', lambda: fcntl.ioctl(follower, 0x541c, b'x'))
attempt('getpid', lambda: libc.syscall(172 if arm else 39))";
    let scene = python(CLOSED, lines);
    scene.story(&[]).check(0, "1:merged");
    let done = done(&scene);
    assert_eq!(done.matches(" 1,").count(), 12, "{done}");
    assert!(done.ends_with("getpid done"), "{done}");
}

/// Nobody is that user or in that group, so that the attack hurts nobody either way.
#[test]
fn an_agent_cannot_change_priorities_of_others() {
    let lines = "import platform
ioprio_set = 30 if platform.machine() == 'aarch64' else 251
attempt('user', lambda: os.setpriority(os.PRIO_USER, 54399, 5))
attempt('group', lambda: os.setpriority(os.PRIO_PGRP, 4194303, 5))
attempt('user-io', lambda: libc.syscall(ioprio_set, 3, 54399, 2 << 13))
attempt('group-io', lambda: libc.syscall(ioprio_set, 2, 4194303, 2 << 13))
attempt('own', lambda: os.nice(1))
attempt('own-group', lambda: os.setpriority(os.PRIO_PGRP, 0, 2))
attempt('own-io', lambda: libc.syscall(ioprio_set, 1, 0, 3 << 13))";
    let scene = python(CLOSED, lines);
    scene.story(&[]).check(0, "1:merged");
    assert_eq!(
        done(&scene),
        "user 1, group 1, user-io 1, group-io 1, own done, own-group done, own-io done"
    );
}

/// Nothing holds this agent, so that its limits take effect: they hurt the log and nobody else.
#[test]
fn a_wrapper_that_may_write_nothing_still_ends_what_the_agent_started() {
    let lines = "if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.chdir('/')
        note = open('BESIDE/hidden', 'w')
        note.write(str(os.getpid()))
        note.close()
        os.execve('/bin/sleep', ['sleep', '1000'], {})
    os._exit(0)
os.wait()
while not os.path.exists('BESIDE/hidden'):
    pass
resource.prlimit(wrapper, resource.RLIMIT_FSIZE, (0, 0))
print('much output ' * 1000)";
    let scene = python(UNHELD, lines);
    scene.story(&[]).check(1, "1:failed");
    check_gone(&scene.trace("hidden"));
}

#[test]
fn signals_of_limits_do_not_end_a_run_and_its_memory_is_never_dumped() {
    let scene = Scene::with(
        UNHELD,
        ONE,
        &format!("cat /proc/$PPID/limits > wrapper; {WAIT}"),
    );
    let mut gate = Gate::at(&scene);
    let running = scene.start(&[]);
    gate.wait_for(1);
    running.signal(Signal::XFSZ);
    running.signal(Signal::XCPU);
    gate.let_go(1);
    running.story().check(0, "1:merged");
    let limits = scene.show("pleach/batch-1", "wrapper");
    let core = limits.lines().find(|line| line.starts_with("Max core"));
    let core: Vec<&str> = core.unwrap().split_whitespace().collect();
    assert_eq!(core[4..6], ["0", "0"], "{limits}");
}

/// What hides from the sweep by its parents, its folder and its environment is a child of the engine then.
#[test]
fn whoever_hides_is_found_when_the_wrapper_is_killed() {
    let hide = "(cd /; env -i PATH=\"$PATH\" setsid sh -c '(echo $$ > BESIDE/leader; exec sleep 1000) & echo $! > BESIDE/hidden')";
    let shell = format!("echo $PPID > BESIDE/wrapper; {hide}; {WAIT}");
    let scene = Scene::new(ONE, &shell);
    let mut gate = Gate::at(&scene);
    let running = scene.start(&[]);
    gate.wait_for(1);
    let wrapper: i32 = scene.trace("wrapper").parse().unwrap();
    kill_process(Pid::from_raw(wrapper).unwrap(), Signal::KILL).unwrap();
    running.story().check(1, "1:failed");
    check_gone(&scene.trace("hidden"));
}

/// Checks that a process is gone, not even waiting to be collected.
#[track_caller]
fn check_gone(pid: &str) {
    assert!(!pid.is_empty());
    let status = fs::read_to_string(Path::new("/proc").join(pid).join("status"));
    assert!(
        status.is_err(),
        "{pid} lives: {}",
        status.unwrap_or_default()
    );
}

#[test]
fn terminals_of_the_user_are_closed_and_own_ones_work() {
    let leader = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&leader).unwrap();
    unlockpt(&leader).unwrap();
    let terminal = ptsname(&leader, Vec::new()).unwrap();
    let terminal = terminal.to_str().unwrap();
    let lines = format!(
        "import pty
attempt('write', lambda: os.write(os.open('{terminal}', os.O_WRONLY | os.O_NOCTTY), b'Consent and run? [y/N]'))
attempt('read', lambda: os.open('{terminal}', os.O_RDONLY | os.O_NOCTTY))
attempt('own-terminal', lambda: os.open('/dev/tty', os.O_RDWR))
leader, follower = os.openpty()
os.write(leader, b'typed\\n')
attempt('openpty', lambda: os.read(follower, 10))
attempt('isatty', lambda: 0 if os.isatty(follower) else -1)
attempt('spawn', lambda: pty.spawn(['true']))
attempt('null', lambda: open('/dev/null', 'w').write('x'))"
    );
    let scene = python(CLOSED, &lines);
    scene.story(&[]).check(0, "1:merged");
    let done = done(&scene);
    let (attacks, work) = done.split_once("openpty").unwrap();
    assert!(!attacks.contains("done"), "{done}");
    assert_eq!(work, " done, isatty done, spawn done, null done");
}

#[test]
fn devices_that_no_build_needs_are_closed() {
    let shell = "for device in /dev/*; do
        [ -c $device ] && [ -r $device ] && (exec 3< $device) 2> /dev/null && echo ${device#/dev/}
    done > done; true";
    let scene = Scene::with(CLOSED, ONE, shell);
    scene.story(&[]).check(0, "1:merged");
    let known = [
        "null", "zero", "full", "random", "urandom", "tty", "ptmx", "kvm", "kfd", "dxg",
    ];
    let done = scene.show("pleach/batch-1", "done");
    for device in done.lines() {
        let is_known = known.contains(&device) || device.starts_with("nvidia");
        assert!(is_known, "{device} can be read");
    }
    assert!(done.contains("urandom"));
}

/// A run under the user's own command, as it was started.
fn run_with(scene: &Scene, change: impl FnOnce(&mut Command)) -> Story {
    let mut command = command(
        scene.repo.path(),
        &scene.home(),
        &["run", "--yes", "--json"],
    );
    change(&mut command);
    Running::start(&mut command).story()
}
