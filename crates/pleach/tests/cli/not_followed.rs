//! What of a repository and of the user's git is not followed is said before a run, and only where it is the case.

use serde_json::Value;

use crate::pleach;
use crate::scene::Scene;

/// What each line says that nobody could miss.
const SAID: [&str; 3] = ["submodules", "commit.gpgsign", "user.email"];

/// A repository with a submodule, whose user signs commits and has no address.
fn odd() -> Scene {
    let scene = Scene::of("1", "land = \"none\"", "echo x > file");
    let repo = &scene.repo;
    let modules = "[submodule \"lib\"]\n\tpath = lib\n\turl = ../lib.git\n";
    repo.write(".gitmodules", modules);
    let commit = format!("160000,{},lib", repo.head());
    repo.git(&["add", "--all"]);
    repo.git(&["update-index", "--add", "--cacheinfo", &commit]);
    repo.git(&["commit", "-q", "-m", "a submodule"]);
    repo.git(&["config", "--unset", "user.email"]);
    repo.git(&["config", "commit.gpgsign", "true"]);
    scene
}

fn rehearsed(scene: &Scene, words: &[&str]) -> String {
    let words = [&["run", "1", "--dry-run"], words].concat();
    pleach(scene.repo.path(), &scene.home(), &words).good()
}

/// The messages of the doctor's warnings.
fn warnings(scene: &Scene) -> Vec<String> {
    let told = pleach(scene.repo.path(), &scene.home(), &["doctor", "--json"]).json();
    let findings = told["findings"].as_array().unwrap().iter();
    let warnings = findings.filter(|finding| finding["level"] == "warning");
    warnings
        .map(|finding| finding["message"].as_str().unwrap().to_owned())
        .collect()
}

fn lines_with<'t>(text: &'t str, word: &str) -> Vec<&'t str> {
    text.lines().filter(|line| line.contains(word)).collect()
}

#[test]
fn what_is_not_followed_is_said_by_doctor_and_preview_in_one_line_each() {
    let scene = odd();
    let (shown, warnings) = (rehearsed(&scene, &[]), warnings(&scene));
    let notes: Value = serde_json::from_str(&rehearsed(&scene, &["--json"])).unwrap();
    let notes = notes["notes"].as_array().unwrap().clone();
    let told = scene.run(&[]);
    let heard = scene.story(&["--redo", "1"]).notes();
    for word in SAID {
        assert_eq!(lines_with(&shown, word).len(), 1, "{word}: {shown}");
        assert!(
            warnings.iter().any(|line| line.contains(word)),
            "{word}: {warnings:?}"
        );
        let all = format!("{}{}", told.out, told.err);
        assert_eq!(lines_with(&all, word).len(), 1, "{word}: {all}");
        assert_eq!(lines_with(&heard, word).len(), 1, "{word}: {heard}");
    }
    assert_eq!(notes.len(), SAID.len(), "{notes:?}");
    let author = scene
        .repo
        .git(&["log", "-1", "--format=%ae", "pleach/batch-1"]);
    assert!(shown.contains(author.trim()), "{author}: {shown}");
}

#[test]
fn nothing_is_said_where_everything_is_usual() {
    let scene = Scene::of("1", "land = \"none\"", "echo x > file");
    let (shown, warnings) = (rehearsed(&scene, &[]), warnings(&scene).join("\n"));
    for word in SAID {
        assert!(!shown.contains(word), "{word}: {shown}");
        assert!(!warnings.contains(word), "{word}: {warnings}");
    }
}
