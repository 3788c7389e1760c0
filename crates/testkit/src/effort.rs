//! How much a test tries: enough for the gate, or everything, as at night.

use std::time::SystemTime;

/// Chooses between what the gate has time for and what `cargo xtask nightly` tries, which sets `PLEACH_THOROUGH`.
pub fn gate_or_night<T>(gate: T, night: T) -> T {
    let is_night = std::env::var_os("PLEACH_THOROUGH").is_some();
    if is_night { night } else { gate }
}

/// Where chance begins, and prints it: the same in every gate, so that a failure comes again; another one each night;
/// or what `PLEACH_SEED` says.
#[expect(clippy::print_stdout, reason = "whoever sees a failure wants it again")]
pub fn seed() -> u64 {
    let given = std::env::var("PLEACH_SEED").ok();
    let seed = given.map_or_else(
        || gate_or_night(1, u64::from(tonight())),
        |given| given.parse().expect("PLEACH_SEED is a number"),
    );
    println!("PLEACH_SEED={seed}");
    seed
}

/// A number that is another one each time.
fn tonight() -> u32 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.map_or(0, |now| now.subsec_nanos())
}
