//! Whatever an agent says, nothing breaks.
