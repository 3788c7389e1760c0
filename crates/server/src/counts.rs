//! How often what happened since the server began, for `/metrics`.

use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::StatusCode;

/// Counts that only grow, and how many are there now.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Answers by the first digit of their status.
    answers: [AtomicU64; 6],
    /// Clients that listen to events now.
    pub(crate) listeners: AtomicU64,
    /// Frames of events that were handed to clients.
    pub(crate) frames: AtomicU64,
    pub(crate) connections: AtomicU64,
}

impl Counts {
    pub(crate) fn answered(&self, status: StatusCode) {
        let class = usize::from(status.as_u16() / 100);
        if let Some(count) = self.answers.get(class) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Answers by class of status, such as `2xx`.
    pub(crate) fn answers(&self) -> impl Iterator<Item = (usize, u64)> {
        let counts = self.answers.iter().enumerate().skip(1);
        counts.map(|(class, count)| (class, count.load(Ordering::Relaxed)))
    }
}
