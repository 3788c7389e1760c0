//! Which variables of our environment every program may see.

/// None of them holds a secret.
const ALLOWED: [&str; 16] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TERM",
    "TZ",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "NVM_DIR",
];

pub fn is_allowed_to_all(name: &str) -> bool {
    ALLOWED.contains(&name) || name.starts_with("LC_")
}
