//! Forges and pushes, against a stand-in that serves real repositories.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "forge/asking.rs"]
mod asking;
#[path = "forge/failing.rs"]
mod failing;
#[path = "forge/logins.rs"]
mod logins;
#[path = "forge/pushing.rs"]
mod pushing;
#[path = "forge/scene.rs"]
mod scene;
