//! What the operating system does for others, with real files and processes; one program, so that it is linked once.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod leases;
