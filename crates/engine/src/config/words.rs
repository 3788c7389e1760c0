//! The words that stand for choices in a configuration.

use pleach_domain::batch::{Landing, NoChanges, OnConflict};
use pleach_domain::choice::{ForgeKind, NetworkChoice, Strategy};

use super::kinds::Word;
use super::{Mode, OnInvalid};

impl Word for Mode {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("parallel", Self::Parallel),
        ("queue", Self::Queue),
        ("serial", Self::Serial),
    ];
}

impl Word for OnConflict {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("skip", Self::Skip),
        ("fail", Self::Fail),
        ("rerun", Self::Rerun),
    ];
}

impl Word for Strategy {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("merge", Self::Merge),
        ("squash", Self::Squash),
        ("rebase", Self::Rebase),
        ("octopus", Self::Octopus),
    ];
}

impl Word for NoChanges {
    const WORDS: &'static [(&'static str, Self)] = &[("retry", Self::Retry), ("done", Self::Done)];
}

impl Word for OnInvalid {
    const WORDS: &'static [(&'static str, Self)] = &[("drop", Self::Drop), ("fail", Self::Fail)];
}

impl Word for NetworkChoice {
    const WORDS: &'static [(&'static str, Self)] = &[("open", Self::Open), ("none", Self::None)];
}

impl Word for Landing {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("pr", Self::PullRequest),
        ("push", Self::Push),
        ("local", Self::Local),
        ("none", Self::Nowhere),
    ];
}

impl Word for ForgeKind {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("github", Self::GitHub),
        ("gitlab", Self::GitLab),
        ("gitea", Self::Gitea),
        ("none", Self::None),
    ];
}
