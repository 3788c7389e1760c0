//! What must hold when processes are killed, or get in each other's way.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "faults/killed.rs"]
mod killed;
#[path = "faults/life.rs"]
mod life;
#[path = "faults/locks.rs"]
mod locks;
#[path = "faults/together.rs"]
mod together;
