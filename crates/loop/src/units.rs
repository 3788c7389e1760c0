//! What the loop notes of what a cluster was given, and how it finds that again.

use std::collections::HashMap;
use std::sync::mpsc::Sender;

use pleach_log::database::{ProcessPurpose, SubmittedUnit};

use pleach_system::crash_point::{CrashPoint, crash_point};

use super::RunError;
use super::run_loop::Loop;

impl Loop<'_> {
    /// Whoever comes after us must find what is about to be sent.
    pub(super) fn note_units(
        &mut self,
        units: &[SubmittedUnit],
        go: &Sender<usize>,
    ) -> Result<(), RunError> {
        let id = self.batch_id;
        let cluster = self.record.cluster.as_ref();
        let most = cluster.map_or(0, |cluster| cluster.most);
        let noted = self.patiently(|database| database.note_units(id, units, most))?;
        // A dispatcher that broke off sends nothing.
        let _ = go.send(noted);
        Ok(())
    }

    /// Notes what came to its end; however many there are, at once.
    pub(super) fn end_units(&mut self) -> Result<(), RunError> {
        if self.over_units.is_empty() {
            return Ok(());
        }
        let fences = std::mem::take(&mut self.over_units);
        self.patiently(|database| database.end_units(&fences))?;
        crash_point(CrashPoint::PlaceCleared);
        for fence in fences {
            self.executor.forget(fence);
        }
        Ok(())
    }

    /// Where attempts were sent that nothing was heard of yet.
    pub(super) fn sent_units(&self) -> Result<HashMap<ProcessPurpose, SubmittedUnit>, RunError> {
        let open = self.database.open_units(self.batch_id)?;
        let by_purpose = open.into_iter().map(|unit| (unit.whose.clone(), unit));
        Ok(by_purpose.collect())
    }

    /// Nobody wants what comes of these any more, and none of them counts as being with the cluster.
    pub(super) fn abandon(&mut self, units: Vec<SubmittedUnit>) -> Result<(), RunError> {
        for unit in &units {
            if let ProcessPurpose::Probe(number) = unit.whose {
                self.runs = self.runs.max(number);
            }
        }
        let fences: Vec<String> = units.into_iter().map(|unit| unit.fence).collect();
        if !fences.is_empty() {
            self.patiently(|database| database.end_units(&fences))?;
        }
        self.executor.abandon_the_rest();
        Ok(())
    }
}
