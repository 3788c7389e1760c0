//! Agents at their worst: what becomes of the task, that nobody of them is left, and that the batch ends.

mod hostile;
mod no_room;
