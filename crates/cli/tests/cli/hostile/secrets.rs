//! Secrets, logins and limits against an agent that attacks them.
