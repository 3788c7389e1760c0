//! How a program ended, as the system tells it.

/// How a process ended by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// With an exit code.
    Code(i32),
    /// By a signal.
    Signal(i32),
}
