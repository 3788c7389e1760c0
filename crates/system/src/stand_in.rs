//! Processes of this machine in the place of a cluster, for tests.

/// The variable that says so.
pub const STAND_IN: &str = "PLEACH_STAND_IN";

pub fn has_stand_in() -> bool {
    std::env::var_os(STAND_IN).is_some()
}
