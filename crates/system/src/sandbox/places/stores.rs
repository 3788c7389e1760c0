//! Where package managers keep files that they hard-link into projects and into installed programs.
//!
//! A table and nothing else; all paths are meant from the home folder.

/// A store of packages, or of programs that are run from there.
///
/// Whoever writes to a file in one changes it in every project of the user's that it is linked into.
pub(in crate::sandbox) struct PackageStore {
    /// Programs without which nobody looks at its variables; none if these bother nobody.
    pub(in crate::sandbox) programs: &'static [&'static str],
    /// Variables that say where it is, each with the folder that agents have instead.
    pub(in crate::sandbox) variables: &'static [(&'static str, &'static str)],
    /// Where it is if nobody says.
    pub(in crate::sandbox) places: &'static [&'static str],
    /// Files of settings that may say so too, each with the name of the setting.
    pub(in crate::sandbox) settings: &'static [(&'static str, &'static str)],
}

impl PackageStore {
    const fn set_in(self, settings: &'static [(&'static str, &'static str)]) -> Self {
        Self { settings, ..self }
    }
}

const fn store(
    variables: &'static [(&'static str, &'static str)],
    places: &'static [&'static str],
) -> PackageStore {
    PackageStore {
        programs: &[],
        variables,
        places,
        settings: &[],
    }
}

pub(in crate::sandbox) const PACKAGE_STORES: &[PackageStore] = &[
    store(&[("BUN_INSTALL_CACHE_DIR", "bun")], &[".bun/install/cache"])
        .set_in(&[(".bunfig.toml", "dir")]),
    store(
        &[
            ("CONDA_PKGS_DIRS", "conda/pkgs"),
            ("CONDA_ENVS_PATH", "conda/envs"),
        ],
        &[".conda/pkgs", ".conda/envs"],
    ),
    store(&[("DENO_DIR", "deno")], &[".cache/deno"]),
    PackageStore {
        // Npm warns of variables that only pnpm knows.
        programs: &["pnpm", "pnpx"],
        variables: &[
            ("npm_config_store_dir", "pnpm/store"),
            ("npm_config_cache_dir", "pnpm/cache"),
            ("pnpm_config_store_dir", "pnpm/store"),
            ("pnpm_config_cache_dir", "pnpm/cache"),
        ],
        places: &[".local/share/pnpm/store", ".pnpm-store", ".cache/pnpm"],
        settings: &[
            (".config/pnpm/config.yaml", "cacheDir"),
            (".config/pnpm/config.yaml", "storeDir"),
            (".config/pnpm/rc", "cache-dir"),
            (".config/pnpm/rc", "store-dir"),
            (".npmrc", "cache-dir"),
            (".npmrc", "store-dir"),
        ],
    },
    // Nothing is linked out of these two, but commits of the user run what is in them.
    store(&[("PRE_COMMIT_HOME", "pre-commit")], &[".cache/pre-commit"]),
    store(&[("PREK_HOME", "prek")], &[".cache/prek"]),
    store(&[("RATTLER_CACHE_DIR", "rattler")], &[".cache/rattler"]),
    store(&[("UV_CACHE_DIR", "uv")], &[".cache/uv"]).set_in(&[(".config/uv/uv.toml", "cache-dir")]),
    store(&[("YARN_GLOBAL_FOLDER", "yarn")], &[".yarn/berry"])
        .set_in(&[(".yarnrc.yml", "globalFolder")]),
];
