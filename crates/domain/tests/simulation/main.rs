//! Whole histories of batches by the thousand, with cancels, retries and crashes at any point.
//!
//! One seed is one history: `PLEACH_SEED=7` lives that one alone, `PLEACH_CASES` says how many.

#![expect(clippy::unwrap_used, reason = "tests say what is wrong by panicking")]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a history that breaks a promise is told aloud"
)]

mod account;
mod dice;
mod ledger;
mod truth;
mod world;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use dice::Dice;
use pleach_domain::event::{BatchEvent, Event, TaskEvent};
use pleach_domain::id::TaskId;
use world::World;

/// Names the seed of a history that breaks off.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("PLEACH_SEED={} lives this history again", self.0);
        }
    }
}

/// How often each thing happened.
type Tally = BTreeMap<String, u64>;

fn live_aloud(seed: u64) {
    let mut dice = Dice::new(seed);
    let design = dice.design();
    World::new(dice, &design).aloud().live();
}

fn live(seed: u64, tally: &mut Tally) {
    let named = Seed(seed);
    let mut dice = Dice::new(seed);
    let design = dice.design();
    for event in World::new(dice, &design).live() {
        *tally.entry(name(&event)).or_default() += 1;
    }
    drop(named);
}

fn name(event: &Event) -> String {
    match event {
        Event::Task { event, .. } => format!("task {}", event.participle()),
        Event::Batch(event) => format!("batch {}", event.participle()),
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

#[test]
fn every_batch_settles_with_every_promise_kept() {
    if let Some(seed) = number("PLEACH_SEED") {
        return live_aloud(seed);
    }
    let cases = number("PLEACH_CASES").unwrap_or(10_000);
    let next = AtomicU64::new(0);
    let lives = || {
        let mut tally = Tally::new();
        let seeds = std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)));
        for seed in seeds.take_while(|seed| *seed < cases) {
            live(seed, &mut tally);
        }
        tally
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut sum = Tally::new();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(lives)).collect();
        for (name, count) in threads.into_iter().flat_map(|done| done.join().unwrap()) {
            *sum.entry(name).or_default() += count;
        }
    });
    println!("{cases} histories: {sum:#?}");
    let task = TaskId::new("1");
    let of_tasks = TaskEvent::one_of_each().into_iter();
    let of_tasks = of_tasks.map(|event| Event::Task {
        task: task.clone(),
        event,
    });
    let of_batches = BatchEvent::one_of_each().into_iter().map(Event::Batch);
    for event in of_tasks.chain(of_batches) {
        let often = sum
            .get(&name(&event))
            .is_some_and(|count| *count > cases / 100);
        assert!(
            often,
            "{} hardly ever happens: this checks too little",
            name(&event)
        );
    }
}
