//! The same as in `real_agents` with agents that are slower to start; `cargo xtask agents all` installs and tries them.

mod gemini {
    use crate::real_agents::{GEMINI, told_of};
    told_of!(GEMINI, three_tasks_are_woven);
}

mod opencode {
    use crate::real_agents::{OPENCODE, told_of};
    told_of!(OPENCODE, three_tasks_are_woven);
}
