//! The owner's socket and the server against an agent that attacks them.
