//! How long the program waits where nothing but time is waited for.
//!
//! `PLEACH_PACE=10` makes such waits ten times shorter, for tests. Without it they are as long as they should be.

use std::sync::OnceLock;
use std::time::Duration;

/// The variable that says how many times shorter.
pub const PACE: &str = "PLEACH_PACE";

pub fn paced(wait: Duration) -> Duration {
    static TIMES: OnceLock<u32> = OnceLock::new();
    let times = TIMES.get_or_init(|| {
        let said = std::env::var(PACE).ok();
        let said = said.and_then(|said| said.parse().ok());
        said.filter(|times| *times > 0).unwrap_or(1)
    });
    wait / *times
}
