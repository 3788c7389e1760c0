//! Counts what is opened on a share to read what nodes write, as the kernel tells it.
//!
//! Nodes open their files to write them, and whoever reads them is the owner.

use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init};

pub(super) struct Opens {
    told: OwnedFd,
    /// The watches of submissions, in whose folders nodes read as well.
    submissions: Vec<i32>,
    count: u32,
}

impl Opens {
    /// Counts from now on.
    pub(super) fn of(submissions: &[PathBuf]) -> Self {
        let told = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).expect("Linux has it");
        let watch = |folder: &Path| {
            let watched = add_watch(&told, folder, WatchFlags::CLOSE_NOWRITE);
            watched.expect("the folder is there")
        };
        let inside = submissions.iter().flat_map(std::fs::read_dir).flatten();
        for entry in inside.flatten().filter(|entry| entry.path().is_dir()) {
            watch(&entry.path());
        }
        let submissions = submissions.iter().map(|folder| watch(folder)).collect();
        let count = 0;
        Self {
            told,
            submissions,
            count,
        }
    }

    /// How many there were so far; asked before the kernel forgets any.
    pub(super) fn so_far(&mut self) -> u32 {
        let mut buffer = [MaybeUninit::uninit(); 1 << 13];
        let mut reader = Reader::new(&self.told, &mut buffer);
        while let Ok(event) = reader.next() {
            assert!(!event.events().contains(ReadFlags::QUEUE_OVERFLOW));
            // Of a submission its listing counts, and neither what nodes read nor the folders that are watched themselves.
            let is_named = event.file_name().is_some();
            let is_counted = !is_named || !self.submissions.contains(&event.wd());
            self.count += u32::from(is_counted);
        }
        self.count
    }
}
