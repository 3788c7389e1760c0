//! A hostile agent: what it tries to get out of its sandbox, each attack through a real run.
//!
//! The attacks are named as in the threat model of the guide (`docs/guide/security.md`).

mod consent;
mod doors;
mod git;
mod own_git;
mod places;
mod processes;
mod secrets;
mod text;
