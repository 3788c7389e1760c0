//! A test in a process of its own, whose environment is known: nothing of this machine's home folder or variables is seen.
//!
//! Knows nothing of what the test does there.

use std::path::PathBuf;
use std::process::Command;

/// Set in such a process.
const ALONE: &str = "PLEACH_TEST_ALONE";

/// A file in its home folder once the test is through.
const DONE: &str = ".test-done";

/// Runs a test with an empty home folder and these variables besides: this very program is started anew with that one test.
///
/// A test's environment cannot be changed once it runs, because its threads read it.
#[track_caller]
pub fn in_own_process<T: FnOnce()>(variables: &[(&str, &str)], test: T) {
    if std::env::var_os(ALONE).is_some() {
        test();
        std::fs::write(own_home().join(DONE), "").expect("the home folder can be written to");
        return;
    }
    // A closure is named after the function that it is in.
    let path = std::any::type_name::<T>().replace("::{{closure}}", "");
    let name = path.split_once("::").map_or("", |(_, name)| name);
    let home = tempfile::tempdir().expect("a temporary folder can be made");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let status = Command::new("/proc/self/exe")
        .args(["--exact", name, "--nocapture"])
        .env_clear()
        .env(ALONE, "1")
        .env("PATH", path)
        .env("HOME", home.path())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs(variables.iter().copied())
        .status();
    let status = status.expect("the program that runs can be started");
    assert!(status.success(), "{name} failed in a process of its own");
    let is_done = home.path().join(DONE).exists();
    assert!(is_done, "there is no test that is called {name}");
}

pub fn own_home() -> PathBuf {
    assert!(
        std::env::var_os(ALONE).is_some(),
        "the home folder is somebody's"
    );
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let home = home.and_then(|home| home.canonicalize().ok());
    home.expect("it was made for this process")
}
