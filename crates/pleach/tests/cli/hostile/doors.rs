//! The owner's socket and the server against an agent that attacks them.

mod browser;
mod crowd;
mod owner;
mod squatter;
mod trust;

use crate::scene::{Gate, Scene};

/// What opens the pipes of a [`Gate`] and one folder to a sandboxed agent, and nothing else.
const NARROW: &str = "retries = 0\nsandbox = \"SANDBOX\"\n\
                      sandbox_write = [\"BESIDE/arrived\", \"BESIDE/gate\", \"BESIDE/out\"]";

/// A scene whose agents are sandboxed and can wait at the gate and write to `BESIDE/out`.
fn sandboxed(tasks: &str, sandbox: &str, shell: &str) -> (Scene, Gate) {
    let scene = Scene::of(tasks, &NARROW.replace("SANDBOX", sandbox), shell);
    std::fs::create_dir(scene.repo.beside("out")).unwrap();
    let gate = Gate::at(&scene);
    (scene, gate)
}
