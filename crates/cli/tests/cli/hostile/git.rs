//! The store and its worktrees against an agent that attacks them.
