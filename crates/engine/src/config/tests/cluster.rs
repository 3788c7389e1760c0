//! What may be said of clusters, and how it is told what is wrong with it.

use std::collections::BTreeMap;
use std::time::Duration;

use pleach_domain::choice::{SecretDelivery, Where};

use super::super::*;
use super::parse;

/// What the file with everything says of clusters.
pub(super) fn with_every_key() -> Config {
    let large = SizeConfig {
        cpus: Some(16),
        memory: Some(64 << 30),
        gpus: Some(1),
        time: Some(Duration::from_hours(4)),
        slurm: Some(vec!["--partition=gpu".to_owned()]),
    };
    Config {
        place: Some(Where::Slurm),
        cluster_share: Some("/scratch/me".into()),
        cluster_scratch: Some("/local".to_owned()),
        cluster_look: Some(Duration::from_mins(1)),
        cluster_lease: Some(Duration::from_mins(5)),
        cluster_secrets: Some(SecretDelivery::File),
        cluster_most: Some(100),
        slurm_partition: Some("agents".to_owned()),
        slurm_account: Some("me".to_owned()),
        slurm_qos: Some("low".to_owned()),
        slurm_constraint: Some("avx512".to_owned()),
        slurm_reservation: Some("night".to_owned()),
        slurm_args: Some(vec!["--exclusive".to_owned()]),
        slurm_bin: Some("/opt/slurm/bin".into()),
        validate_size: Some("large".to_owned()),
        sizes: BTreeMap::from([("large".to_owned(), large)]),
        ..Config::default()
    }
}

#[test]
fn what_is_said_of_clusters_is_checked_with_its_line_and_the_nearest_name() {
    let text = "[cluster]\nlook = \"9s\"\nlease = \"11m\"\nmost = 10001\nsecret = \"file\"\n[slurm]\n\
                args = [\"--array=1-5\"]\npartitions = \"a\"\n[sizes.large]\ncpu = 2\nmemory = \"1KiB\"\n";
    let error = parse(text).unwrap_err();
    let told: Vec<(String, String)> = { error.each().iter() }
        .map(|error| (error.to_string(), error.hint()))
        .collect();
    let begins = [
        (
            "pleach.toml:2: cluster.look must be a time of at least \"10s\"",
            "",
        ),
        (
            "pleach.toml:3: cluster.lease must be a time from \"30s\" to \"10m\"",
            "",
        ),
        (
            "pleach.toml:4: cluster.most must be a number from 1 to 10000",
            "",
        ),
        (
            "pleach.toml:5: unknown key \"cluster.secret\"",
            "did you mean secrets?",
        ),
        (
            "pleach.toml:7: slurm.args must be a list of options for sbatch",
            "",
        ),
        (
            "pleach.toml:8: unknown key \"slurm.partitions\"",
            "did you mean partition?",
        ),
        (
            "pleach.toml:10: unknown key \"sizes.large.cpu\"",
            "did you mean cpus?",
        ),
        (
            "pleach.toml:11: sizes.large.memory must be a size of at least \"1MiB\"",
            "",
        ),
    ];
    assert_eq!(told.len(), begins.len(), "{told:#?}");
    for ((error, hint), (begin, meant)) in told.iter().zip(begins) {
        assert!(error.starts_with(begin), "{error}");
        assert!(meant.is_empty() || hint == meant, "{hint}");
    }
    let near = |key: &str| unknown_key(key).hint();
    assert_eq!(near("sizes.large.cpu"), "did you mean sizes.large.cpus?");
}

#[test]
fn a_file_may_hold_more_tasks_at_once_where_another_says_that_they_run_on_a_cluster() {
    let folder = tempfile::tempdir().unwrap();
    let set = |key: &str, text: &str| super::set(key, text, ConfigScope::Repository, folder.path());
    assert!(set("max_parallel", "65").is_err());
    set("where", "slurm").unwrap();
    set("max_parallel", "65").unwrap();
    assert!(set("where", "local").is_err());
    assert!(set("max_parallel", "501").is_err());
    set("cluster.most", "501").unwrap();
    set("max_parallel", "501").unwrap();
}
