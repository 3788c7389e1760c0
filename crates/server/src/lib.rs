//! REST and SSE over an engine: `pleach serve`.
//!
//! Speaks HTTP and decides nothing about batches; no SQL, no git and no processes here.

mod answer;
mod app;
mod connections;
mod counts;
mod door;
mod events;
mod hosting;
mod input;
mod listen;
mod plan_sync;
mod routes;

pub use door::opener::write_opener;
pub use door::proof::Challenge;
pub use door::token::{Token, TokenError};
pub use listen::{Options, ServeError, Server, Service, Stopper};
pub use pleach_engine::operator::Consent;
pub use routes::{document, document_text};
