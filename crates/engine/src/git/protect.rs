//! Protects what the agents of a store share: installs the ref guard, and mends the configuration.
//!
//! Knows nothing of who changed it.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::guard::HOOK;
use super::{Store, StoreError, is_executable};

/// Something that agents share and that was put back as it has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mended {
    /// The configuration of the store.
    Config,
    /// The hook that guards its refs.
    Guard,
}

impl fmt::Display for Mended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Config => {
                "an agent changed the git configuration that all agents share; it is as before again"
            }
            Self::Guard => {
                "an agent removed the guard that keeps agents off each other's branches; it is in place again"
            }
        })
    }
}

impl Store {
    /// Makes a program, which is Pleach itself, judge every change of refs that agents make.
    pub fn install_guard(&self, program: &Path) -> Result<(), StoreError> {
        if !is_executable(program) {
            let missing = io::ErrorKind::NotFound.into();
            return Err(StoreError::io("find the program", program)(missing));
        }
        let _lock = self.lock("store.lock")?;
        let known = self.home().join("guard");
        self.link(program, &known)?;
        self.mend_guard().map(drop)
    }

    /// Puts back what agents share, if one of them has changed it.
    pub fn mend(&self) -> Result<Vec<Mended>, StoreError> {
        let mut mended = Vec::new();
        let wanted = self.wanted_config();
        let wanted = fs::read(&wanted).map_err(StoreError::io("read", &wanted))?;
        let config = self.git_dir().join("config");
        if fs::read(&config).ok().as_ref() != Some(&wanted) {
            self.replace_if_other(&config, &wanted)?;
            mended.push(Mended::Config);
        }
        if self.mend_guard()? {
            mended.push(Mended::Guard);
        }
        Ok(mended)
    }

    /// Puts the hook in place as it was installed last; says whether it was not there.
    fn mend_guard(&self) -> Result<bool, StoreError> {
        let Ok(program) = fs::read_link(self.home().join("guard")) else {
            return Ok(false);
        };
        let hooks = self.git_dir().join("hooks");
        let hook = hooks.join(HOOK);
        fs::create_dir_all(&hooks).map_err(StoreError::io("create", &hooks))?;
        self.link(&program, &hook)
    }

    /// Makes a link of the store lead to a place, as a whole; says whether it did not.
    fn link(&self, target: &Path, path: &Path) -> Result<bool, StoreError> {
        if fs::read_link(path).is_ok_and(|there| there == target) {
            return Ok(false);
        }
        let prefix = self.scratch_prefix()?;
        let put = || {
            let mut aside = tempfile::Builder::new();
            let aside = aside.prefix(&prefix);
            let aside = aside.make_in(self.home(), |aside| symlink(target, aside))?;
            if path.is_dir() && !path.is_symlink() {
                fs::remove_dir_all(path)?;
            }
            aside.into_temp_path().persist(path)?;
            Ok(true)
        };
        put().map_err(StoreError::io("write", path))
    }
}
