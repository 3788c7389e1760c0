//! How a program ended, as the system tells it.

/// How a process ended by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(i32),
}
