//! Why programs cannot be held as they should be, and what to do about it.

/// Why programs cannot be held as they should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoSandbox {
    /// The kernel cannot do it.
    #[error("sandbox = \"{wanted}\" needs Landlock, which this kernel does not have")]
    NoLandlock {
        /// The word that asks for it.
        wanted: &'static str,
    },
    /// The system lets nobody filter system calls.
    #[error("sandbox = \"{wanted}\" needs to filter system calls, which this system refuses")]
    NoFilter {
        /// The word that asks for it.
        wanted: &'static str,
    },
    /// Nothing can take the network away.
    #[error(
        "network = \"none\" needs user namespaces or Landlock of Linux 6.7, and this system has neither"
    )]
    NoNetworkToTake,
    /// The user's wrapper is not there.
    #[error("the sandbox is to be {program}, which is not installed")]
    NoWrapper {
        /// The program.
        program: String,
    },
}

impl NoSandbox {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoLandlock { .. } => {
                "Linux has it since 5.13, unless it is left out of the boot parameter lsm=; take the key sandbox away to \
                 have the best there is, or set it to \"none\""
            }
            Self::NoFilter { .. } => {
                "allow the system call seccomp, which containers may forbid; remove `sandbox` from the configuration to \
                 have the best there is, or set it to \"none\""
            }
            Self::NoNetworkToTake => {
                "allow user namespaces (sysctl user.max_user_namespaces), or remove `network` from the configuration"
            }
            Self::NoWrapper { .. } => {
                "install it, write its whole path, or take the key sandbox away"
            }
        }
    }
}
