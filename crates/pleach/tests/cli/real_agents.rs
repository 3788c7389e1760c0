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
    use super::CLAUDE;
    told_of!(
        CLAUDE,
        a_trial_shows_that_it_works,
        three_tasks_are_woven,
        four_at_once_do_not_disturb_each_other,
        a_usage_limit_pauses_and_the_session_goes_on,
        a_limit_at_the_start_loses_no_task,
        an_overload_is_waited_for,
        a_broken_stream_is_got_over,
        a_stream_that_always_breaks_fails,
        a_missing_login_is_the_end_at_once,
        a_full_context_is_the_end,
        a_stop_in_mid_work_leaves_nobody_and_keeps_the_work,
        a_killed_run_leaves_no_agent_and_goes_on,
        a_model_that_hangs_is_not_waited_for,
        a_model_that_never_stops_is_timed_out,
        a_used_up_budget_is_the_end_in_mid_work,
        what_is_not_allowed_is_told,
    );
}

mod codex {
    use super::CODEX;
    // It tells what it took only when it is done, so that no budget stops it before; and it is forbidden nothing by
    // arguments, for those that allow everything go with no others.
    told_of!(
        CODEX,
        a_trial_shows_that_it_works,
        three_tasks_are_woven,
        four_at_once_do_not_disturb_each_other,
        a_usage_limit_pauses_and_the_session_goes_on,
        a_limit_at_the_start_loses_no_task,
        an_overload_is_waited_for,
        a_broken_stream_is_got_over,
        a_stream_that_always_breaks_fails,
        a_missing_login_is_the_end_at_once,
        a_full_context_is_the_end,
        a_stop_in_mid_work_leaves_nobody_and_keeps_the_work,
        a_killed_run_leaves_no_agent_and_goes_on,
        a_model_that_hangs_is_not_waited_for,
        a_model_that_never_stops_is_timed_out,
    );
}

mod goose {
    use super::GOOSE;
    // It makes its conversation shorter when the context is full, and says nothing where that does not help. What it
    // may do is said in its protocol, and not by its user.
    told_of!(
        GOOSE,
        a_trial_shows_that_it_works,
        three_tasks_are_woven,
        four_at_once_do_not_disturb_each_other,
        a_usage_limit_pauses_and_the_session_goes_on,
        a_limit_at_the_start_loses_no_task,
        an_overload_is_waited_for,
        a_broken_stream_is_got_over,
        a_stream_that_always_breaks_fails,
        a_missing_login_is_the_end_at_once,
        a_stop_in_mid_work_leaves_nobody_and_keeps_the_work,
        a_killed_run_leaves_no_agent_and_goes_on,
        a_model_that_hangs_is_not_waited_for,
        a_model_that_never_stops_is_timed_out,
        a_used_up_budget_is_the_end_in_mid_work,
    );
}
