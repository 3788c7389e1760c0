//! Recorded streams of real agents, and what is understood of them.

mod claude;
mod codex;
mod properties;
mod shown;
