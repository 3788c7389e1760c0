//! Real build tools under the sandbox, with nothing in their caches and no network.

use std::path::Path;

use super::CLOSED;
use crate::command;
use crate::scene::{Scene, Story};

/// A run of one task whose agent is a script, with the toolchain of these tests before everything else.
fn run(scene: &Scene, variables: &[(&str, &Path)]) -> Story {
    let cargo = std::env::var("CARGO").unwrap();
    let toolchain = Path::new(&cargo).parent().unwrap();
    let path = format!("{}:{}", toolchain.display(), std::env::var("PATH").unwrap());
    let words = ["run", "--yes", "--json"];
    let mut command = command(scene.repo.path(), &scene.home(), &words);
    command.env("PATH", path).envs(variables.iter().copied());
    let answer = command.output().unwrap().into();
    Story::of(&answer)
}

/// Checks that a build of one worktree works with a home folder that has nothing but what is closed to it.
#[track_caller]
fn check(scene: &Scene, made: &str) {
    for (file, text) in [
        (".npmrc", "//registry.example.com/:_authToken=secret\n"),
        (".pypirc", "[pypi]\npassword = secret\n"),
        (
            ".cargo/credentials.toml",
            "[registry]\ntoken = \"secret\"\n",
        ),
        (".cargo/config.toml", "[alias]\nb = \"build\"\n"),
        (".cargo/bin/cargo-x", ""),
    ] {
        let path = scene.home().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let story = run(scene, &[]);
    story.check(0, "1:merged");
    let notes = story.notes();
    let is_quiet = !notes.contains("the sandbox") && !notes.contains("restored");
    assert!(is_quiet, "{notes}");
    assert_eq!(scene.show("pleach/batch-1", "result"), made);
}

#[test]
fn cargo_builds_with_a_vendored_dependency() {
    let scene = Scene::with(
        CLOSED,
        super::ONE,
        "cargo b --offline --quiet && target/debug/app > result && test -w $HOME/.cargo/.package-cache && touch $HOME/.cargo/registry/x",
    );
    let repo = &scene.repo;
    repo.write(".gitignore", "target\n");
    repo.write(
        "Cargo.toml",
        "[package]\nname = \"app\"\nversion = \"1.0.0\"\nedition = \"2021\"\n[dependencies]\nleft = \"1\"\n[workspace]\n",
    );
    repo.write(
        "src/main.rs",
        "fn main() { println!(\"{}\", left::WORD) }\n",
    );
    repo.write(
        "vendor/left/Cargo.toml",
        "[package]\nname = \"left\"\nversion = \"1.2.3\"\nedition = \"2021\"\n",
    );
    repo.write(
        "vendor/left/src/lib.rs",
        "pub const WORD: &str = \"built\";\n",
    );
    repo.write("vendor/left/.cargo-checksum.json", "{\"files\":{}}");
    repo.write(
        ".cargo/config.toml",
        "[source.crates-io]\nreplace-with = \"here\"\n[source.here]\ndirectory = \"vendor\"\n",
    );
    repo.commit("an app");
    check(&scene, "built");
}

#[test]
fn npm_installs_what_is_locked() {
    let scene = Scene::with(
        CLOSED,
        super::ONE,
        "npm ci --offline --no-audit --no-fund && node -e 'console.log(require(\"left\"))' > result && test -d $HOME/.npm",
    );
    let repo = &scene.repo;
    repo.write(".gitignore", "node_modules\n*.tgz\n");
    repo.write(
        "left/package.json",
        "{\"name\":\"left\",\"version\":\"1.0.0\"}",
    );
    repo.write("left/index.js", "module.exports = 'installed'\n");
    repo.write(
        "package.json",
        "{\"name\":\"app\",\"version\":\"1.0.0\",\"dependencies\":{\"left\":\"file:left-1.0.0.tgz\"}}",
    );
    repo.write(
        "package-lock.json",
        "{\"name\":\"app\",\"version\":\"1.0.0\",\"lockfileVersion\":3,\"requires\":true,\"packages\":{\"\":{\"name\":\"app\",\
         \"version\":\"1.0.0\",\"dependencies\":{\"left\":\"file:left-1.0.0.tgz\"}},\"node_modules/left\":{\
         \"version\":\"1.0.0\",\"resolved\":\"file:left-1.0.0.tgz\"}}}",
    );
    let settings = format!("{CLOSED}\nsetup = \"npm pack ./left\"");
    scene.configure(
        &settings,
        "npm ci --offline --no-audit --no-fund && node -e 'console.log(require(\"left\"))' > result && test -d $HOME/.npm",
    );
    repo.commit("an app");
    check(&scene, "installed");
}

#[test]
fn pip_installs_a_wheel_into_an_environment() {
    let scene = Scene::with(
        CLOSED,
        super::ONE,
        "(cd left && python3 -m zipfile -c ../left-1.0-py3-none-any.whl left.py left-1.0.dist-info) &&
         python3 -m venv env && env/bin/pip install --no-index ./left-1.0-py3-none-any.whl &&
         env/bin/python -c 'import left' > result",
    );
    let repo = &scene.repo;
    repo.write(".gitignore", "env\n*.whl\n");
    repo.write("left/left.py", "print('installed')\n");
    let info = "left/left-1.0.dist-info";
    repo.write(
        format!("{info}/METADATA"),
        "Metadata-Version: 2.1\nName: left\nVersion: 1.0\n",
    );
    repo.write(
        format!("{info}/WHEEL"),
        "Wheel-Version: 1.0\nGenerator: by hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    );
    repo.write(
        format!("{info}/RECORD"),
        "left.py,,\nleft-1.0.dist-info/METADATA,,\nleft-1.0.dist-info/WHEEL,,\nleft-1.0.dist-info/RECORD,,\n",
    );
    repo.commit("an app");
    check(&scene, "installed");
}

#[test]
fn a_cache_that_a_variable_names_is_open_wherever_it_is() {
    let shell = "mkdir -p $GOCACHE/00 && echo x > $GOCACHE/00/x && echo kept > result";
    let settings = format!(
        "{CLOSED}\nagent = \"go\"\n[agents.go]\ncommand = [\"sh\", \"-c\", '{shell}']\nenv = [\"GOCACHE\"]"
    );
    let scene = Scene::with(&settings, super::ONE, "");
    let cache = scene.repo.beside("somewhere/go-build");
    run(&scene, &[("GOCACHE", &cache)]).check(0, "1:merged");
    assert!(cache.join("00/x").exists());
}
