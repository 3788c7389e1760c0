//! Landing with real git and files, and batches that an operator is asked for.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod landing;
mod operator;
