//! The same as in `real_agents` with agents that are slower to start; `cargo xtask agents all` installs and tries them.
//!
//! Both tell what they took only at the end of a turn, so that no budget stops them before.

mod gemini {
    use crate::real_agents::{GEMINI, told_of};
    // It takes a stream that broke in mid-sentence for one that is over, and nothing that it tells says otherwise.
    told_of!(
        GEMINI,
        a_trial_shows_that_it_works,
        three_tasks_are_woven,
        four_at_once_do_not_disturb_each_other,
        a_usage_limit_pauses_and_the_session_goes_on,
        a_limit_at_the_start_loses_no_task,
        an_overload_is_waited_for,
        a_missing_login_is_the_end_at_once,
        a_full_context_is_the_end,
        a_stop_in_mid_work_leaves_nobody_and_keeps_the_work,
        a_killed_run_leaves_no_agent_and_goes_on,
        a_model_that_hangs_is_not_waited_for,
        a_model_that_never_stops_is_timed_out,
    );
}

mod opencode {
    use crate::real_agents::{OPENCODE, told_of};
    // It asks again for minutes where a stream always breaks or the context is full, and says nothing of it.
    told_of!(
        OPENCODE,
        a_trial_shows_that_it_works,
        three_tasks_are_woven,
        four_at_once_do_not_disturb_each_other,
        a_usage_limit_pauses_and_the_session_goes_on,
        a_limit_at_the_start_loses_no_task,
        an_overload_is_waited_for,
        a_broken_stream_is_got_over,
        a_missing_login_is_the_end_at_once,
        a_stop_in_mid_work_leaves_nobody_and_keeps_the_work,
        a_killed_run_leaves_no_agent_and_goes_on,
        a_model_that_hangs_is_not_waited_for,
        a_model_that_never_stops_is_timed_out,
    );
}
