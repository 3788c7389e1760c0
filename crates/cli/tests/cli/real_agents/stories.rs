//! What is tried with each agent.

mod weaving;

pub(crate) use weaving::three_tasks_are_woven;
