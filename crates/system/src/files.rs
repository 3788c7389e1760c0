//! Files that others may have had their hands in, and paths.

pub mod cached_path;
pub mod plain_file;
pub mod regular_file;
pub mod removal;
pub mod stored_path;
