//! What must hold when processes are killed, or get in each other's way.

mod killed;
mod life;
mod locks;
mod together;
