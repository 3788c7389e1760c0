//! Why programs cannot be held as they should be, and what to do about it.

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoSandbox {
    #[error("sandbox = \"{wanted}\" needs Landlock, which this kernel does not have")]
    NoLandlock { wanted: &'static str },
    #[error(
        "sandbox = \"{wanted}\" needs to filter system calls, which this system does not allow"
    )]
    NoFilter { wanted: &'static str },
    #[error(
        "network = \"none\" needs user namespaces or the Landlock of Linux 6.7, and this system has neither"
    )]
    NoNetworkToTake,
    #[error("the sandbox command {program} is not installed")]
    NoWrapper { program: String },
}

impl NoSandbox {
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoLandlock { .. } => {
                "Linux 5.13 and later have it, unless the boot parameter lsm= leaves it out; remove the key sandbox to \
                 use the best available, or set it to \"none\""
            }
            Self::NoFilter { .. } => {
                "allow the seccomp system call (containers may block it); remove the key sandbox to \
                 use the best available, or set it to \"none\""
            }
            Self::NoNetworkToTake => {
                "allow user namespaces (sysctl user.max_user_namespaces), or remove the key network"
            }
            Self::NoWrapper { .. } => "install it, use its full path, or remove the key sandbox",
        }
    }
}
