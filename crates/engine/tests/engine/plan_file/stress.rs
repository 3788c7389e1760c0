//! A person and Pleach save the same plan at the same time, two thousand times each.

use std::collections::{HashMap, HashSet, VecDeque};
use std::convert::Infallible;
use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, mpsc};
use std::thread;

use pleach_engine::plan_file::{Displaced, PlanFile, Rewritten};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::{Folder, random};

const SAVES: usize = 2000;
const LEAD: usize = 3;
const PERSON: usize = 0;
const PLEACH: usize = 1;

/// Lets two sides wait for each other, so that they meet from the first save to the last.
#[derive(Default)]
struct Pace {
    sides: Mutex<[Progress; 2]>,
    moved: Condvar,
}

#[derive(Default, Clone, Copy)]
struct Progress {
    saves: usize,
    is_waiting: bool,
}

impl Pace {
    /// Counts a save, and waits for the other side if it is far behind.
    fn count(&self, side: usize) {
        self.sides.lock().unwrap()[side].saves += 1;
        self.wait_while(side, |own, other| own.saves > other.saves + LEAD);
    }

    /// Waits until the other side has saved, which puts its save into the middle of ours.
    fn let_other_save(&self, side: usize) {
        let before = self.sides.lock().unwrap()[1 - side].saves;
        self.wait_while(side, |_, other| other.saves == before);
    }

    /// Waits while `blocked`, unless the other side is waiting or done.
    fn wait_while(&self, side: usize, blocked: impl Fn(Progress, Progress) -> bool) {
        let mut sides = self.sides.lock().unwrap();
        sides[side].is_waiting = true;
        self.moved.notify_all();
        let goes_on = |sides: &mut [Progress; 2]| {
            let (own, other) = (sides[side], sides[1 - side]);
            !other.is_waiting && other.saves < SAVES && blocked(own, other)
        };
        sides = self.moved.wait_while(sides, goes_on).unwrap();
        sides[side].is_waiting = false;
    }
}

/// Even writes tick their task, odd ones put a line below it.
fn our_edit(write: usize, text: &str) -> Option<String> {
    let (open, ticked, below) = (
        format!("- [ ] task {write}\n"),
        format!("- [x] task {write}\n"),
        format!("pleach {write}\n"),
    );
    match write % 2 {
        0 => text.contains(&open).then(|| text.replace(&open, &ticked)),
        _ => (!text.contains(&below)).then(|| text.replace(&open, &format!("{open}{below}"))),
    }
}

/// Somebody who saves in three ways, and whose own saves lose nothing of ours.
///
/// The rename is an exchange: an editor that checks and then renames over would destroy our write in
/// between, and the test would count its mistake. If this one displaced what it had not read, it puts that
/// back and starts over; if we wrote on top of its text in that instant, it takes our lines along. In place
/// and appending, it writes to the file it opened, wherever that file is by then. One save in six is slow:
/// one of ours comes between its reading and its writing.
struct Person<'a> {
    plan: PathBuf,
    pace: &'a Pace,
    seed: u64,
}

impl Person<'_> {
    fn save(&mut self, number: usize) {
        let line = format!("person {number}\n");
        match random(&mut self.seed) % 3 {
            0 => self.save_by_exchange(&line),
            1 => {
                let mut file = OpenOptions::new()
                    .read(true)
                    .write(true)
                    .open(&self.plan)
                    .unwrap();
                let mut text = String::new();
                file.read_to_string(&mut text).unwrap();
                let text = self.insert(&text, &line);
                self.hesitate();
                file.write_all_at(text.as_bytes(), 0).unwrap();
            }
            _ => {
                let mut file = OpenOptions::new().append(true).open(&self.plan).unwrap();
                self.hesitate();
                file.write_all(line.as_bytes()).unwrap();
            }
        }
    }

    fn hesitate(&mut self) {
        if random(&mut self.seed).is_multiple_of(6) {
            self.pace.let_other_save(PERSON);
        }
    }

    fn insert(&mut self, text: &str, line: &str) -> String {
        let ends: Vec<_> = text.match_indices('\n').map(|(end, _)| end + 1).collect();
        let (before, after) = text.split_at(ends[random(&mut self.seed) % ends.len()]);
        [before, line, after].concat()
    }

    fn save_by_exchange(&mut self, line: &str) {
        let temporary = self.plan.with_file_name("person.tmp");
        let mut read = fs::read_to_string(&self.plan).unwrap();
        let mut text = self.insert(&read, line);
        let mut covered = None;
        self.hesitate();
        loop {
            fs::write(&temporary, &text).unwrap();
            if self.exchange(&temporary) == read {
                return fs::remove_file(&temporary).unwrap();
            }
            let came_back = self.exchange(&temporary);
            fs::remove_file(&temporary).unwrap();
            if came_back != text {
                covered = Some(came_back);
            }
            read = fs::read_to_string(&self.plan).unwrap();
            text = match &covered {
                Some(covered) => with_missing_lines(&read, covered),
                None => self.insert(&read, line),
            };
        }
    }

    /// Exchanges the plan and `temporary`, and reads what was the plan.
    fn exchange(&self, temporary: &Path) -> String {
        renameat_with(CWD, temporary, CWD, &self.plan, RenameFlags::EXCHANGE).unwrap();
        fs::read_to_string(temporary).unwrap()
    }
}

/// `text` with each tick and each line of `held` that it lacks, the line below the one it followed there.
fn with_missing_lines(text: &str, held: &str) -> String {
    let untick = |line: &str| line.replace("[x]", "[ ]");
    let known: HashSet<String> = text.lines().map(untick).collect();
    let ticked: HashSet<&str> = held.lines().filter(|line| line.contains("[x]")).collect();
    let mut followers: HashMap<String, String> = HashMap::new();
    let mut above = String::new();
    for line in held.lines() {
        if known.contains(&untick(line)) {
            above = untick(line);
        } else {
            let followers = followers.entry(above.clone()).or_default();
            followers.extend([line, "\n"]);
        }
    }
    let mut merged = followers.remove("").unwrap_or_default();
    for line in text.lines() {
        let tick = line.replace("[ ]", "[x]");
        let line = if ticked.contains(tick.as_str()) {
            &tick
        } else {
            line
        };
        let below = followers.remove(&untick(line)).unwrap_or_default();
        merged.extend([line, "\n", &below]);
    }
    merged
}

fn write_ours(plan: &Path, write: usize) -> Rewritten {
    PlanFile::rewrite(plan, |text| Ok::<_, Infallible>(our_edit(write, text))).unwrap()
}

/// Settles each rewrite in its turn and repeats those that met a late save; counts these.
fn settle_all(plan: &Path, rewrites: mpsc::Receiver<(usize, Displaced)>) -> usize {
    let mut merged = 0;
    let mut again = VecDeque::new();
    let mut settle = |write, displaced: Displaced, again: &mut VecDeque<_>| {
        if let Some(displaced) = displaced.settle_once().unwrap() {
            merged += 1;
            again.push_back((write, displaced));
            again.push_back((write, write_ours(plan, write).displaced));
        }
    };
    for (write, displaced) in rewrites {
        settle(write, displaced, &mut again);
    }
    while let Some((write, displaced)) = again.pop_front() {
        settle(write, displaced, &mut again);
    }
    merged
}

#[test]
fn no_line_is_lost_while_a_person_and_pleach_save_two_thousand_times_each() {
    let tasks: Vec<_> = (0..SAVES)
        .map(|task| format!("- [ ] task {task}\n"))
        .collect();
    let (folder, plan) = Folder::with_plan(tasks.concat());
    let pace = Pace::default();
    let (sender, receiver) = mpsc::channel();
    let merged = thread::scope(|scope| {
        scope.spawn(|| {
            let mut person = Person {
                plan: plan.clone(),
                pace: &pace,
                seed: 0x5eed,
            };
            for number in 0..SAVES {
                person.save(number);
                pace.count(PERSON);
            }
        });
        let settler = scope.spawn(|| settle_all(&plan, receiver));
        for write in 0..SAVES {
            let mut calls = 0;
            let edit = |text: &str| {
                calls += 1;
                // Each eighth edit takes so long that the person saves meanwhile.
                if write % 8 == 0 && calls == 1 {
                    pace.let_other_save(PLEACH);
                }
                Ok::<_, Infallible>(our_edit(write, text))
            };
            let rewritten = PlanFile::rewrite(&plan, edit).unwrap();
            sender.send((write, rewritten.displaced)).unwrap();
            pace.count(PLEACH);
        }
        drop(sender);
        settler.join().unwrap()
    });
    println!("{merged} rewrites met a late save");
    let text = fs::read_to_string(&plan).unwrap();
    let mut counts = HashMap::new();
    text.lines()
        .for_each(|line| *counts.entry(line.to_owned()).or_insert(0) += 1);
    let expected = (0..SAVES).flat_map(|number| match number % 2 {
        0 => vec![format!("- [x] task {number}"), format!("person {number}")],
        _ => vec![
            format!("- [ ] task {number}"),
            format!("pleach {number}"),
            format!("person {number}"),
        ],
    });
    let wrong = expected.filter_map(|line| match counts.remove(&line) {
        Some(1) => None,
        count => Some((line, count)),
    });
    let wrong: Vec<_> = wrong.collect();
    assert!(
        wrong.is_empty() && counts.is_empty(),
        "not once: {wrong:?}; not expected: {counts:?}"
    );
    folder.check_names(&["TODO.md"]);
}
