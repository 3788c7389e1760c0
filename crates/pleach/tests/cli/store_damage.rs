//! A private store with files in it that no git would have left: found, moved away and told, by doctors and by runs.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::pleach;
use crate::scene::{Scene, make_pipe};

fn doctor(scene: &Scene) -> String {
    pleach(scene.repo.path(), &scene.home(), &["doctor"]).out
}

#[test]
fn doctor_finds_and_mends_damage_in_the_store_and_says_so() {
    let scene = Scene::new("- [ ] 1 A\n", "echo x > x");
    scene.story(&[]).check(0, "1:merged");
    assert!(!doctor(&scene).contains("damaged"));
    fs::write(scene.store().join("refs/heads/rubbish"), "x\n").unwrap();
    let told = doctor(&scene);
    assert!(
        told.contains("a damaged file, refs/heads/rubbish"),
        "{told}"
    );
    assert!(!doctor(&scene).contains("damaged"));
    scene.repo.git_in(&scene.store(), &["fsck", "--strict"]);
}

/// Puts something in the place of a part of the store.
type Damage = fn(&Path, &Path);

#[test]
fn a_run_mends_what_would_keep_every_git_waiting_or_lead_it_elsewhere_and_says_so() {
    let damages: [(&str, Damage); 5] = [
        ("commondir", |file, elsewhere| {
            fs::write(file, elsewhere.to_str().unwrap()).unwrap();
        }),
        ("HEAD", |file, _| {
            fs::remove_file(file).unwrap();
            make_pipe(file);
        }),
        ("config", |file, _| {
            fs::remove_file(file).unwrap();
            make_pipe(file);
        }),
        ("objects/info/alternates", |file, _| make_pipe(file)),
        ("refs", |file, elsewhere| {
            fs::remove_dir_all(file).unwrap();
            symlink(elsewhere, file).unwrap();
        }),
    ];
    for (name, damage) in damages {
        let scene = Scene::new("- [ ] 1 A\n", "echo x > x");
        scene.story(&[]).check(0, "1:merged");
        let elsewhere = scene.repo.beside("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join("mine"), "no ref\n").unwrap();
        damage(&scene.store().join(name), &elsewhere);
        scene.repo.write("TODO.md", "- [ ] B\n");
        scene.configure("retries = 0", "echo y > y");
        let story = scene.story(&[]);
        story.check(0, "1:merged");
        let notes = story.notes();
        assert!(
            notes.contains(&format!("moved a damaged file, {name}, to")),
            "{notes}"
        );
        assert_eq!(
            fs::read_to_string(elsewhere.join("mine")).unwrap(),
            "no ref\n"
        );
    }
}
