//! A queue that says one thing and does another, or does not answer for a while.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use pleach_testkit::{SlurmCluster, gate_or_night};

use super::{Behind, ON_CLUSTER, check_tidy, submissions};
use crate::scene::{Running, Scene};

/// Ways in which `sbatch` does not do what it says; `REAL` is the one of Slurm, and `TEXT` its input.
const LIES: [&str; 3] = [
    "REAL \"$@\" < TEXT; REAL \"$@\" < TEXT",
    "REAL \"$@\" < TEXT > TEXT.said; kill -9 $$",
    "REAL \"$@\" < TEXT > TEXT.said; echo 'sbatch: error: Socket timed out on send/recv operation' >&2; exit 1",
];

/// Puts a script in front of a program of Slurm; the path to look for programs on.
fn stand_before(scene: &Scene, name: &str, script: &str) -> String {
    let folder = scene.repo.beside("in-front");
    fs::create_dir_all(&folder).unwrap();
    let path = std::env::var("PATH").unwrap();
    let real = std::env::split_paths(&path).map(|folder| folder.join(name));
    let real = real.into_iter().find(|program| program.exists()).unwrap();
    let text = scene.repo.beside("text").display().to_string();
    let script = script.replace("REAL", &real.display().to_string());
    let script = script.replace("TEXT", &format!("{text}.$$"));
    let place = folder.join(name);
    fs::write(&place, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{path}", folder.display())
}

pub(super) fn tasks(count: usize) -> String {
    let tasks: Vec<String> = (1..=count).map(|task| task.to_string()).collect();
    tasks.join(", ")
}

#[test]
fn what_is_submitted_twice_is_done_once_whatever_sbatch_says() {
    let cluster = SlurmCluster::start(2);
    let rounds = gate_or_night(1, 7);
    for _ in 0..rounds {
        thread::scope(|scope| {
            for lie in LIES {
                let cluster = &cluster;
                scope.spawn(move || submit_twice(cluster, lie));
            }
        });
        cluster.await_empty_queue();
    }
    super::tell(
        6,
        &format!("{} submissions of 10, each unit once", rounds * LIES.len()),
    );
}

fn submit_twice(cluster: &SlurmCluster, lie: &str) {
    let settings = format!("max_parallel = 10\n{ON_CLUSTER}");
    let shell = "echo x >> 'BESIDE/began'; echo $PLEACH_TASK > file-$PLEACH_TASK";
    let scene = Scene::of(&tasks(10), &settings, shell);
    // What is asked before anything is submitted is answered as it is.
    let asked = "case \"$*\" in *--test-only*) exec REAL \"$@\";; esac";
    let path = stand_before(&scene, "sbatch", &format!("{asked}\ncat > TEXT\n{lie}"));
    let mut run = Behind::Slurm(cluster).run(&scene, &["run", "--yes"]);
    let told = Running::start(run.env("PATH", path)).story();
    let one_each: Vec<String> = (1..=10).map(|task| format!("{task}:1")).collect();
    assert_eq!(told.attempts(), one_each.join(" "), "{lie}: {}", told.err);
    let began = scene.trace("began").split_whitespace().count();
    assert_eq!(began, 10, "{lie}");
    assert_eq!(told.status(), "completed", "{lie}");
    check_tidy(&scene);
}

/// A queue that answers when everything it had is over: nobody saw anything of it before.
#[test]
fn what_came_to_its_end_before_anybody_looked_is_taken() {
    let cluster = SlurmCluster::start(2);
    let settings = format!("max_parallel = 8\n{ON_CLUSTER}");
    let scene = Scene::of(
        &tasks(8),
        &settings,
        "echo $PLEACH_TASK > file-$PLEACH_TASK",
    );
    let slow = "until [ -z \"$(REAL -h -t PENDING,RUNNING,COMPLETING)\" ]; do sleep 0.1; done; exec REAL \"$@\"";
    let path = stand_before(&scene, "squeue", slow);
    let mut run = Behind::Slurm(&cluster).run(&scene, &["run", "--yes"]);
    let told = Running::start(run.env("PATH", path)).story();
    let one_each: Vec<String> = (1..=8).map(|task| format!("{task}:1")).collect();
    assert_eq!(told.attempts(), one_each.join(" "), "{}", told.notes());
    check_tidy(&scene);
}

/// How the controller goes and comes back.
trait Outage {
    fn begin(&mut self);
    fn end(&mut self);
}

/// Programs that say what they say when no controller is there, at once, as long as there is this file, which they
/// write their names to.
struct Mute(PathBuf);

impl Outage for Mute {
    fn begin(&mut self) {
        fs::write(&self.0, "").unwrap();
    }

    fn end(&mut self) {
        let was_tried = || fs::read_to_string(&self.0).is_ok_and(|said| said.contains("sbatch"));
        super::await_that("somebody submits something", was_tried);
        fs::remove_file(&self.0).unwrap();
    }
}

struct Killed<'a>(&'a mut SlurmCluster);

impl Outage for Killed<'_> {
    fn begin(&mut self) {
        self.0.kill_controller();
    }

    fn end(&mut self) {
        // As long as the pace of the test makes it.
        thread::sleep(Duration::from_mins(1));
        self.0.revive_controller();
    }
}

#[test]
fn while_no_controller_answers_what_runs_is_taken_in_and_what_is_new_waits() {
    let mut cluster = SlurmCluster::start(2);
    let conf = cluster.conf();
    let settings = format!("max_parallel = 6\n{ON_CLUSTER}");
    let shell = "echo x >> 'BESIDE/began'; [ $PLEACH_TASK -gt 4 ] || until [ -e 'BESIDE/go' ]; do sleep 0.1; done; \
                 echo $PLEACH_TASK > file-$PLEACH_TASK";
    let scene = Scene::of("1, 2, 3, 4, 5 1, 6 2", &settings, shell);
    let mark = scene.repo.beside("mute");
    let mute = format!(
        "[ ! -e '{0}' ] || {{ echo $0 >> '{0}'; echo 'error: Unable to contact slurm controller (connect failure)' >&2; exit 1; }}; \
         exec REAL \"$@\"",
        mark.display()
    );
    let mut path = String::new();
    for program in ["sbatch", "squeue", "scancel"] {
        path = stand_before(&scene, program, &mute);
    }
    let mut run = crate::command(
        scene.repo.path(),
        &scene.home(),
        &["run", "--yes", "--json"],
    );
    run.env("SLURM_CONF", conf).env("PATH", path);
    run.env(pleach_system::pace::PACE, "20");
    let mut run = Running::start(&mut run);
    for _ in 0..4 {
        run.wait_for("batch:task:placed");
    }
    let mut outage: Box<dyn Outage> = if gate_or_night(false, true) {
        Box::new(Killed(&mut cluster))
    } else {
        Box::new(Mute(mark))
    };
    outage.begin();
    fs::write(scene.repo.beside("go"), "").unwrap();
    for _ in 0..4 {
        run.wait_for("batch:task:completed");
    }
    outage.end();
    drop(outage);
    let told = run.story();
    told.check(0, "1:merged 2:merged 3:merged 4:merged 5:merged 6:merged");
    assert_eq!(told.attempts(), "1:1 2:1 3:1 4:1 5:1 6:1");
    let notes = told.notes();
    let words = notes
        .lines()
        .filter(|note| note.contains("Unable to contact"));
    assert_eq!(words.count(), 1, "{notes}");
    check_tidy(&scene);
}

#[test]
fn while_nothing_can_be_written_to_the_share_nothing_new_begins_and_nothing_fails() {
    let scene = Scene::of("1, 2", ON_CLUSTER, "echo $PLEACH_TASK > file-$PLEACH_TASK");
    let behind = Behind::StandIn;
    let first = Running::start(&mut behind.run(&scene, &["run", "1", "--yes"])).story();
    first.check(0, "1:merged");
    // A depot that is no folder takes nothing, as a disk that is full.
    let depots = fs::read_dir(scene.repo.beside("share")).unwrap().flatten();
    let mut depots = depots.map(|entry| entry.path().join("depot.git"));
    let depot = depots.find(|depot| depot.exists()).unwrap();
    let aside = depot.with_extension("aside");
    fs::rename(&depot, &aside).unwrap();
    fs::write(&depot, "").unwrap();
    let mut run = Running::start(&mut behind.run(&scene, &["run", "2", "--yes"]));
    run.wait_for("takes no orders");
    assert_eq!(submissions(&scene), Vec::<PathBuf>::new());
    fs::remove_file(&depot).unwrap();
    fs::rename(&aside, &depot).unwrap();
    let told = run.story();
    told.check(0, "2:merged");
    assert_eq!(told.attempts(), "2:1");
    assert_eq!(told.notes().matches("takes no orders").count(), 1);
    check_tidy(&scene);
}
