//! Pleach with the programs that people really use, which talk to a stand-in for their model.
//!
//! `cargo xtask agents` installs them. Nothing leaves the machine.

mod driven;
mod stage;
pub(crate) mod stories;

use driven::{CLAUDE, CODEX, GOOSE};
pub(crate) use driven::{GEMINI, OPENCODE};

/// Each story of a list as a test of its own, told of one agent.
macro_rules! told_of {
    ($agent:expr, $($story:ident),+ $(,)?) => {
        $(
            #[test]
            fn $story() {
                $crate::real_agents::stories::$story(&$agent);
            }
        )+
    };
}
pub(crate) use told_of;

mod claude {
    use super::{CLAUDE, told_of};
    told_of!(CLAUDE, three_tasks_are_woven);
}

mod codex {
    use super::{CODEX, told_of};
    told_of!(CODEX, three_tasks_are_woven);
}

mod goose {
    use super::{GOOSE, told_of};
    told_of!(GOOSE, three_tasks_are_woven);
}
