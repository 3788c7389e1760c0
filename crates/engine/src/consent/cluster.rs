//! The settings that say where programs run, if not on this machine.
//!
//! Knows nothing of what needs consent besides.

use std::path::PathBuf;
use std::time::Duration;

use pleach_domain::choice::Where;

use super::in_a_line;
use crate::config::Settings;

/// Where programs run, if not on this machine, and with what: everything that says where to, by its key.
pub(super) fn settings_in_words(settings: &Settings) -> Vec<(String, Option<String>)> {
    if settings.place == Where::Local {
        return Vec::new();
    }
    let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
    let secrets = settings.cluster_secrets.word();
    let all = [
        ("where", Some(settings.place.word().to_owned())),
        ("validate_size", Some(settings.validate_size.clone())),
        ("cluster.share", path(&settings.cluster_share)),
        ("cluster.scratch", Some(settings.cluster_scratch.clone())),
        ("cluster.most", Some(settings.cluster_most.to_string())),
        ("cluster.look", Some(seconds(settings.cluster_look))),
        ("cluster.lease", Some(seconds(settings.cluster_lease))),
        ("cluster.secrets", Some(secrets.to_owned())),
        ("slurm.partition", settings.slurm_partition.clone()),
        ("slurm.account", settings.slurm_account.clone()),
        ("slurm.qos", settings.slurm_qos.clone()),
        ("slurm.constraint", settings.slurm_constraint.clone()),
        ("slurm.reservation", settings.slurm_reservation.clone()),
        ("slurm.args", in_a_line(&settings.slurm_args)),
        ("slurm.bin", path(&settings.slurm_bin)),
    ];
    let sizes = settings.sizes.iter().flat_map(|(name, size)| {
        let said = size.said().into_iter();
        said.map(move |(field, value)| (format!("sizes.{name}.{field}"), Some(value.to_string())))
    });
    let all = all.into_iter().map(|(name, text)| (name.to_owned(), text));
    all.chain(sizes).collect()
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs())
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::path::Path;

    use super::*;
    use crate::config::{Config, KEYS, Key};

    fn names(text: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("pleach.toml"), text).unwrap();
        let config = Config::load(folder.path()).unwrap();
        let settings = Settings::of([config], Path::new("/project")).unwrap();
        let said = settings_in_words(&settings).into_iter();
        said.filter_map(|(name, text)| text.map(|_| name)).collect()
    }

    #[test]
    fn whatever_a_file_can_say_of_a_cluster_is_asked_about() {
        let mut text = String::from("where = \"slurm\"\nvalidate_size = \"large\"\n");
        let on_clusters =
            |key: &&Key| key.name.starts_with("cluster.") || key.name.starts_with("slurm.");
        let keys = KEYS.iter().filter(on_clusters);
        for key in keys.clone() {
            writeln!(text, "{} = {}", key.name, key.example()).unwrap();
        }
        let sizes = "[sizes.large]\ncpus = 2\nmemory = \"4GiB\"\ngpus = 1\ntime = \"4h\"\nslurm = [\"--y\"]\n";
        text.push_str(sizes);
        let asked = names(&text);
        for key in keys {
            assert!(asked.iter().any(|name| name == key.name), "{}", key.name);
        }
        for name in [
            "where",
            "validate_size",
            "sizes.large.cpus",
            "sizes.large.memory",
            "sizes.large.gpus",
            "sizes.large.time",
            "sizes.large.slurm",
        ] {
            assert!(asked.iter().any(|asked| asked == name), "{name}");
        }
        assert_eq!(
            names(&text.replace("slurm\"\nval", "local\"\nval")),
            [""; 0]
        );
    }
}
