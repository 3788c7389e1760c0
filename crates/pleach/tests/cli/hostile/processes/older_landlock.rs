//! Kernels whose Landlock is older than what the sandbox uses: what that leaves open is said.

use std::fs;
use std::process::{Command, Output};

use super::{CLOSED, ONE};
use crate::command;
use crate::scene::{Scene, Story};

/// Runs a program on a kernel that says to have another version of Landlock: whoever asks for it is answered by this
/// one. What the library for Landlock does not find there, it does not use.
const OLDER: &str = "import ctypes, fcntl, os, platform, struct, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
version = int(sys.argv[1])
def statement(code, so, otherwise, number):
    return struct.pack('HBBI', code, so, otherwise, number)
LOAD, EQUAL, ANSWER = 0x20, 0x15, 0x06
code = b''.join([
    statement(LOAD, 0, 0, 0), statement(EQUAL, 0, 3, 444),
    statement(LOAD, 0, 0, 32), statement(EQUAL, 0, 1, 1),
    statement(ANSWER, 0, 0, 0x7fc00000), statement(ANSWER, 0, 0, 0x7fff0000)])
class Program(ctypes.Structure):
    _fields_ = [('length', ctypes.c_ushort), ('code', ctypes.c_char_p)]
libc.prctl(38, 1, 0, 0, 0)
seccomp = 277 if platform.machine() == 'aarch64' else 317
listener = libc.syscall(seccomp, 1, 8, ctypes.byref(Program(6, code)))
assert listener >= 0, ctypes.get_errno()
child = os.fork()
if child == 0:
    os.execv(sys.argv[2], sys.argv[2:])
def answer():
    while True:
        try:
            asked = bytearray(80)
            fcntl.ioctl(listener, 0xc0502100, asked)
            fcntl.ioctl(listener, 0xc0182101, bytes(asked[:8]) + struct.pack('qiI', version, 0, 0))
        except FileNotFoundError:
            pass
threading.Thread(target=answer, daemon=True).start()
os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
";

fn output(scene: &Scene, version: &str, words: &[&str]) -> Output {
    let script = scene.repo.beside("older.py");
    fs::write(&script, OLDER).unwrap();
    let plain = command(scene.repo.path(), &scene.home(), words);
    let variables = plain.get_envs().map(|(name, value)| (name, value.unwrap()));
    let mut older = Command::new("python3");
    older
        .arg(&script)
        .args([version.as_ref(), plain.get_program()])
        .args(plain.get_args())
        .current_dir(scene.repo.path())
        .env_clear()
        .envs(variables);
    older.output().unwrap()
}

#[test]
fn doctor_and_every_run_say_what_an_older_landlock_leaves_open() {
    let shell = "kill -0 $PPID && echo x > signalled; echo x > x";
    for (version, made) in [("5", "signalled x"), ("6", "x")] {
        let scene = Scene::with(CLOSED, ONE, shell);
        let story = Story::of(&output(&scene, version, &["run", "--yes", "--json"]).into());
        story.check(0, "1:merged");
        let doctor = output(&scene, version, &["doctor"]);
        let doctor = String::from_utf8(doctor.stdout).unwrap();
        let times = made.matches("signalled").count();
        for said in [story.notes(), doctor] {
            let count = said.matches("Landlock version 5").count();
            assert_eq!(count, times, "{said}");
        }
        assert_eq!(scene.new_files("pleach/batch-1"), made);
    }
}
