//! What the log keeps and tells, through the public face of the crate; one program, so that it is linked once.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod database;
mod ownership;
mod view;
