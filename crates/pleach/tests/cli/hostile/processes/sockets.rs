//! Programs of the user that listen at sockets in the file system, and memory that programs share by a name.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{CLOSED, done, python, run_with};
use crate::ordinary_user::OrdinaryUser;
use crate::scene::{Gate, Running, Scene};

fn listen(path: &Path) -> UnixListener {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let listener = UnixListener::bind(path).unwrap();
    listener.set_nonblocking(true).unwrap();
    listener
}

/// An agent that connects to whatever it finds.
const CONNECTS: &str = "import glob, multiprocessing
def connect(path):
    socket.socket(socket.AF_UNIX).connect(path)
def served():
    for folder in ('.', os.environ['TMPDIR']):
        server = socket.socket(socket.AF_UNIX)
        server.bind(folder + '/own.socket')
        server.listen()
        connect(folder + '/own.socket')
        os.unlink(folder + '/own.socket')
for name in ('run/bus', 'run/gnupg/S.gpg-agent', 'home/.gnupg/S.gpg-agent', 'keys-X1/agent.1'):
    attempt(name, lambda: connect('BESIDE/' + name))
for path in glob.glob('BESIDE/home/.local/state/pleach/batches/**/*', recursive=True):
    attempt('owner', lambda: connect(path))
attempt('own', served)
attempt('semaphore', lambda: multiprocessing.Semaphore().acquire())";

/// Has programs of the user listen while an agent looks for them; its run is another one's to start.
fn check_sockets(run: impl FnOnce(&Scene, &[(&str, PathBuf)])) {
    let scene = python(CLOSED, CONNECTS);
    let beside = |name: &str| scene.repo.beside(name);
    let paths = [
        "run/bus",
        "run/gnupg/S.gpg-agent",
        "home/.gnupg/S.gpg-agent",
        "keys-X1/agent.1",
    ];
    let listeners = paths.map(|path| listen(&beside(path)));
    // One folder is hidden as a whole, and of others what listens there.
    fs::set_permissions(beside("run"), fs::Permissions::from_mode(0o700)).unwrap();
    let variables = [
        ("XDG_RUNTIME_DIR", beside("run")),
        ("SSH_AUTH_SOCK", beside("keys-X1/agent.1")),
    ];
    run(&scene, &variables);
    let done = done(&scene);
    let (attacks, work) = done.split_once("own ").unwrap();
    assert!(
        !attacks.contains("done") && attacks.contains("run/bus"),
        "{done}"
    );
    assert_eq!(work, "done, semaphore done", "{done}");
    for listener in listeners {
        assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    }
}

#[test]
fn programs_of_the_user_cannot_be_asked_to_do_what_the_agent_may_not() {
    check_sockets(|scene, variables| {
        let story = run_with(scene, |command| {
            command.envs(variables.iter().cloned());
        });
        story.check(0, "1:merged");
    });
}

/// Who needs a namespace of users to hide them.
#[test]
fn nor_can_programs_of_an_ordinary_user() {
    check_sockets(|scene, variables| {
        let user = OrdinaryUser::of(scene);
        let mut command = user.command(&["run", "--yes", "--json"]);
        command.envs(variables.iter().cloned());
        Running::start(&mut command).story().check(0, "1:merged");
    });
}

/// Names by which an agent of another repository listens: the list of all sockets shows them as they are.
const DECEPTIVE: &str = "b'a STORES', b'b\\n0: 2 0 00010000 1 1 4711 STORES', b'./\\xff'";

#[test]
fn sockets_with_deceptive_names_blank_no_folder_and_uncover_no_other_socket() {
    let lines = "attempt('agent', lambda: socket.socket(socket.AF_UNIX).connect('BESIDE/home/.gnupg/S.gpg-agent'))
attempt('git', lambda: -1 if os.system('git log -1') else 0)";
    let scene = python(CLOSED, lines);
    let _listener = listen(&scene.home().join(".gnupg/S.gpg-agent"));
    let stores = scene.state().join("stores");
    let lines = format!(
        "def listen(name):
    os.makedirs(os.path.dirname(name), exist_ok=True)
    server = socket.socket(socket.AF_UNIX)
    server.bind(name)
    server.listen()
    return server
servers = [listen(name) for name in ({},)]
open('BESIDE/arrived', 'w').write('1\\n')
open('BESIDE/gate').read(1)",
        DECEPTIVE.replace("STORES", stores.to_str().unwrap())
    );
    let liar = python("retries = 0\nsandbox_write = [\"BESIDE/arrived\"]", &lines);
    let mut gate = Gate::at(&liar);
    let running = liar.start(&[]);
    gate.wait_for(1);
    scene.story(&[]).check(0, "1:merged");
    assert_eq!(done(&scene), "agent 111, git done");
    gate.let_go(1);
    running.story().check(0, "1:merged");
}

/// As `fnm` does: a link for each shell, in the folder that is hidden as a whole.
#[test]
fn programs_on_the_path_are_found_in_a_hidden_folder() {
    let shell = "linked > x && plain >> x && ! test -e BESIDE/run/bus && ! touch BESIDE/run/new";
    let scene = Scene::with(CLOSED, super::ONE, shell);
    let beside = |name: &str| scene.repo.beside(name);
    let _bus = listen(&beside("run/bus"));
    fs::set_permissions(beside("run"), fs::Permissions::from_mode(0o700)).unwrap();
    for (folder, name) in [("installed/bin", "linked"), ("run/deep/bin", "plain")] {
        fs::create_dir_all(beside(folder)).unwrap();
        let program = beside(folder).join(name);
        fs::write(&program, format!("#!/bin/sh\necho {name}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::create_dir(beside("run/shells")).unwrap();
    symlink(beside("installed"), beside("run/shells/1")).unwrap();
    let run = beside("run").display().to_string();
    let path = std::env::var("PATH").unwrap();
    run_with(&scene, |command| {
        command.env("XDG_RUNTIME_DIR", &run);
        command.env("PATH", format!("{run}/shells/1/bin:{run}/deep/bin:{path}"));
    })
    .check(0, "1:merged");
    assert_eq!(scene.show("pleach/batch-1", "x"), "linked\nplain");
}

/// Removes what it made, however the test ends.
struct Shared(PathBuf);

impl Drop for Shared {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[test]
fn memory_that_programs_share_by_a_name_is_the_agents_own() {
    let number = std::process::id();
    let shared = Shared(format!("/dev/shm/pleach-test-{number}").into());
    fs::write(&shared.0, "secret").unwrap();
    let segment =
        |flags: &str| format!("ctypes.CDLL(None, use_errno=True).shmget({number}, 4096, {flags})");
    let made = Command::new("python3")
        .args([
            "-c",
            &format!("import ctypes; print({})", segment("0o1600")),
        ])
        .output()
        .unwrap();
    let id = String::from_utf8(made.stdout).unwrap();
    assert_ne!(id.trim(), "-1");
    let lines = format!(
        "attempt('file', lambda: open('{}').close())
attempt('segment', lambda: libc.shmget({number}, 4096, 0))
attempt('own', lambda: open('/dev/shm/own-{number}', 'w').close())",
        shared.0.display()
    );
    let scene = python(CLOSED, &lines);
    scene.story(&[]).check(0, "1:merged");
    assert_eq!(done(&scene), "file 2, segment 2, own done");
    assert!(!Path::new(&format!("/dev/shm/own-{number}")).exists());
    let remove = format!(
        "import ctypes; ctypes.CDLL(None).shmctl({}, 0, None)",
        id.trim()
    );
    Command::new("python3")
        .args(["-c", &remove])
        .status()
        .unwrap();
}

#[test]
fn git_and_files_of_others_look_as_they_always_do() {
    let shell = "git status --short && git log -1 --format=%s && test $(id -u) = $(stat -c %u .) && test -r /proc/self/status && git commit -q --allow-empty -m made && echo x > x";
    let scene = crate::scene::Scene::with(CLOSED, super::ONE, shell);
    scene.story(&[]).check(0, "1:merged");
}
