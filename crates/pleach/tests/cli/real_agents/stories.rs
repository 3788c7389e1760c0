//! What is tried with each agent.

mod bounds;
mod ending;
mod troubles;
mod weaving;

pub(crate) use bounds::{a_used_up_budget_is_the_end_in_mid_work, what_is_not_allowed_is_told};
pub(crate) use ending::{
    a_killed_run_leaves_no_agent_and_goes_on, a_model_that_hangs_is_not_waited_for,
    a_model_that_never_stops_is_timed_out, a_stop_in_mid_work_leaves_nobody_and_keeps_the_work,
};
pub(crate) use troubles::{
    a_broken_stream_is_got_over, a_full_context_is_the_end, a_limit_at_the_start_loses_no_task,
    a_missing_login_is_the_end_at_once, a_stream_that_always_breaks_fails,
    a_usage_limit_pauses_and_the_session_goes_on, an_overload_is_waited_for,
};
pub(crate) use weaving::{
    a_trial_shows_that_it_works, four_at_once_do_not_disturb_each_other, three_tasks_are_woven,
};
