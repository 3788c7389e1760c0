//! Consent against files that steer agents by a detour.
