//! Whatever an agent does, in any order, the next one finds a fresh worktree.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::scene::Scene;

/// What an agent may do at a path.
const DEEDS: [&str; 17] = [
    "echo more >> P",
    "rm -rf P",
    "chmod 600 P",
    "chmod 2711 P",
    "chmod a-w P",
    "rm -rf P; ln -s a.txt P",
    "rm -rf P; ln -s \"$OUTSIDE\" P",
    "rm -rf P; mkdir -p P/in; echo x > P/in/x.log",
    "rm -rf P; git init -q P",
    "mkdir -p P/target; echo t > P/target/t",
    "mkfifo P.pipe",
    "cp -p P ../ref; echo 0 > P; touch -r ../ref P",
    "git update-index --assume-unchanged P; echo x >> P",
    "git update-index --skip-worktree P; rm -f P",
    "git add -f P",
    "git add -A; git commit -qm x",
    "mv P Q; mv Q P",
];

const PATHS: [&str; 12] = [
    "a.txt",
    "run.sh",
    "link",
    "folder-link",
    "gone.txt",
    "kind",
    "many/1/1.txt",
    "many/2",
    "deep",
    "sub",
    "new",
    "target",
];

fn deeds() -> impl Strategy<Value = Vec<(usize, usize)>> {
    prop::collection::vec((0..DEEDS.len(), 0..PATHS.len()), 1..10)
}

#[test]
fn random_deeds_leave_nothing_but_what_is_cached() {
    let scene = Scene::new();
    std::fs::create_dir(scene.repo.beside("outside")).unwrap();
    let config = ProptestConfig {
        cases: 16,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let ran = TestRunner::new(config).run(&deeds(), |deeds| {
        let line = |(deed, path): &(usize, usize)| {
            let deed = DEEDS[*deed].replace('P', PATHS[*path]);
            format!("{{ {deed}; }} 2>&- || true\n")
        };
        let script: String = deeds.iter().map(line).collect();
        scene.turn();
        let worktree = scene.recycled(&script, &["target"]).unwrap();
        scene.check_like_fresh(&worktree, &["target"], &script);
        let outside = std::fs::read_dir(scene.repo.beside("outside")).unwrap();
        let mut outside = outside.map(|entry| entry.unwrap().file_name());
        prop_assert!(outside.all(|name| name == "in" || name == "target"));
        Ok(())
    });
    ran.unwrap();
}
