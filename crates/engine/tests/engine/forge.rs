//! Forges and pushes, against a stand-in that serves real repositories.

mod asking;
mod failing;
mod logins;
mod pushing;
mod scene;
