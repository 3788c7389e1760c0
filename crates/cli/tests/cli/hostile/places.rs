//! What an agent may write and read of the user's home folder.
