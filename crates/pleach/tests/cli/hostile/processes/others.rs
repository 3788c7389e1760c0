//! What one agent can do to the engine, the wrappers and another agent, all of which run as the same user.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::MetadataExt as _;
use std::process::{Command, Stdio};

use super::{UNHELD, done, write_python};
use crate::command;
use crate::ordinary_user::OrdinaryUser;
use crate::scene::{Gate, Running, Scene, make_pipe};

/// The first task is attacked, the second attacks; both end when they are let go.
const LINES: &str = "import platform, signal
arm = platform.machine() == 'aarch64'
def arrive():
    with open('BESIDE/arrived', 'w') as pipe:
        pipe.write(os.environ['PLEACH_TASK'] + '\\n')
def wait(pipe):
    os.read(os.open(pipe, os.O_RDONLY), 1)
if os.environ['PLEACH_TASK'] == '1':
    os.rename('done', 'nothing')
    server = socket.socket(socket.AF_UNIX)
    server.bind('\\0pleach-' + str(os.getpid()))
    server.listen()
    child = os.fork()
    if child == 0:
        os.execvp('sleep', ['sleep', '1000'])
    with open('BESIDE/attacked', 'w') as note:
        note.write(f'{os.getpid()} {child}')
    arrive()
    wait('BESIDE/gate')
    os.kill(child, signal.SIGKILL)
    os._exit(0)
wait('BESIDE/begin')
sibling, child = map(int, open('BESIDE/attacked').read().split())
siblings_wrapper = parent(parent(sibling))
def opened(path, flags=os.O_RDONLY):
    descriptor = os.open(path, flags)
    if 'mem' not in path:
        os.read(descriptor, 1)
targets = {'engine': engine, 'wrapper': wrapper, 'other-wrapper': siblings_wrapper, 'sibling': sibling, 'child': child}
for name, pid in targets.items():
    for file in ('environ', 'mem', 'maps', 'auxv', 'fd/0'):
        attempt(f'{name}-{file}', lambda: opened(f'/proc/{pid}/{file}'))
    for link in ('cwd', 'exe', 'root', 'fd/1'):
        attempt(f'{name}-{link}-link', lambda: os.readlink(f'/proc/{pid}/{link}'))
    attempt(f'{name}-killable', lambda: opened(f'/proc/{pid}/oom_score_adj', os.O_RDWR))
    attempt(f'{name}-ptrace', lambda: libc.ptrace(0x4206, pid, 0, 0))
    attempt(f'{name}-memory', lambda: libc.syscall(270 if arm else 310, pid, 0, 0, 0, 0, 0))
    attempt(f'{name}-descriptor', lambda: libc.syscall(438, os.pidfd_open(pid), 0, 0))
    attempt(f'{name}-signal', lambda: os.kill(pid, 0))
    attempt(f'{name}-group', lambda: os.killpg(os.getpgid(pid), 0))
    attempt(f'{name}-pidfd', lambda: signal.pidfd_send_signal(os.pidfd_open(pid), 0))
    attempt(f'{name}-limit', lambda: resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0)))
attempt('sibling-abstract', lambda: socket.socket(socket.AF_UNIX).connect('\\0pleach-' + str(sibling)))
done.flush()
arrive()
wait('BESIDE/gate')";

const ATTACKS: usize = 5 * 17 + 1;

const HELD: &str = "retries = 0\nsandbox_write = [\"BESIDE/arrived\", \"BESIDE/attacked\"]";

fn scene(settings: &str) -> Scene {
    let settings = format!("plan = \"plan.json\"\n{settings}");
    let scene = Scene::of("1, 2", &settings, "");
    write_python(&scene, &settings, LINES);
    make_pipe(&scene.repo.beside("begin"));
    fs::write(scene.repo.beside("attacked"), "").unwrap();
    scene
}

/// Has one agent attack the other.
fn attack(scene: &Scene, command: &mut Command, gate: &mut Gate) {
    let running = Running::start(command);
    gate.wait_for(1);
    fs::write(scene.repo.beside("begin"), "x").unwrap();
    gate.wait_for(1);
    gate.let_go(2);
    running.story().check(0, "1:merged 2:merged");
}

const RUN: [&str; 3] = ["run", "--yes", "--json"];

#[track_caller]
fn check_refused(scene: &Scene) {
    let done = done(scene);
    let refused = done.split(", ").filter(|line| !line.ends_with("done"));
    assert_eq!(refused.count(), ATTACKS, "{done}");
    assert!(!done.contains("done"), "{done}");
}

#[test]
fn nothing_of_the_engine_wrappers_and_other_agents_is_read_traced_or_signalled() {
    let scene = scene(HELD);
    let mut gate = Gate::at(&scene);
    let mut command = command(scene.repo.path(), &scene.home(), &RUN);
    attack(&scene, &mut command, &mut gate);
    check_refused(&scene);
}

#[test]
fn nor_is_it_where_an_ordinary_user_runs_them() {
    let scene = scene(HELD);
    let mut gate = Gate::at(&scene);
    let user = OrdinaryUser::of(&scene);
    attack(&scene, &mut user.command(&RUN), &mut gate);
    drop(user);
    check_refused(&scene);
}

/// The attacks are worth something only if they get through; what is Pleach's own is closed even then.
#[test]
fn without_a_sandbox_other_agents_are_open_and_the_engine_and_wrappers_are_not() {
    let scene = scene(UNHELD);
    let mut gate = Gate::at(&scene);
    let user = OrdinaryUser::of(&scene);
    attack(&scene, &mut user.command(&RUN), &mut gate);
    drop(user);
    let done = done(&scene);
    let has = |attack: String| done.split(", ").any(|line| line == attack);
    for what in [
        "environ",
        "maps",
        "auxv",
        "cwd-link",
        "exe-link",
        "fd/1-link",
        "signal",
        "group",
        "pidfd",
        "limit",
    ] {
        for target in ["sibling", "child"] {
            assert!(has(format!("{target}-{what} done")), "{what}: {done}");
        }
    }
    assert!(has("sibling-abstract done".to_owned()), "{done}");
    for what in [
        "environ",
        "mem",
        "maps",
        "auxv",
        "fd/0",
        "cwd-link",
        "fd/1-link",
        "ptrace",
    ] {
        for target in ["engine", "wrapper", "other-wrapper"] {
            assert!(!has(format!("{target}-{what} done")), "{what}: {done}");
        }
    }
}

/// What the system lets nobody dump belongs to root, whoever runs it.
#[test]
fn a_server_cannot_be_read_by_other_programs_of_its_user() {
    let scene = Scene::new(super::ONE, "");
    let user = OrdinaryUser::of(&scene);
    let mut serve = user.command(&["serve", "--port", "0", "--json", "--log", "off"]);
    let mut server = serve.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let output = server.stdout.as_mut().unwrap();
    BufReader::new(output).read_line(&mut line).unwrap();
    let process = fs::metadata(format!("/proc/{}", server.id())).unwrap();
    let environment = fs::metadata(format!("/proc/{}/environ", server.id())).unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(line.contains("address"), "{line}");
    assert_ne!(process.uid(), 0);
    assert_eq!(environment.uid(), 0);
}
