//! The line to the cluster: what is asked of it goes out one after the other, and the answers come to the dispatcher.
//!
//! A cluster that answers slowly, or not at all, holds up nothing that is heard from the share.

use std::mem;
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::time::Instant;

use pleach_system::crash_point::{CrashPoint, crash_point};

use super::DispatcherInput;
use crate::cluster::{
    Cluster, ClusterError, ClusterSurvey, EndHow, NodeCall, SeenUnit, Submission, UnitName,
};
use crate::node_runner::HEAR;

#[derive(Debug)]
pub(super) enum ClusterCall {
    Survey,
    Look,
    Submit(Submission),
    End(Vec<UnitName>, EndHow),
    SaySecrets {
        job: Option<String>,
        fence: String,
        program: PathBuf,
        text: String,
    },
}

#[derive(Debug)]
pub(super) enum ClusterAnswer {
    Surveyed(Result<ClusterSurvey, ClusterError>),
    Seen {
        asked: Instant,
        seen: Result<Vec<SeenUnit>, ClusterError>,
    },
    Submitted {
        /// The name of the submission.
        submission: String,
        taken: Result<(), ClusterError>,
    },
    SaidSecrets {
        fence: String,
        said: Result<(), ClusterError>,
    },
}

/// Starts the line; it ends when nobody has its end any more.
pub(super) fn open_line(
    cluster: Box<dyn Cluster>,
    answers: Sender<DispatcherInput>,
) -> std::io::Result<Sender<ClusterCall>> {
    let (line, calls) = channel();
    let thread = std::thread::Builder::new().name("cluster".to_owned());
    thread.spawn(move || {
        for call in calls {
            let Some(answer) = carry_out(&*cluster, call) else {
                continue;
            };
            if answers.send(DispatcherInput::Answered(answer)).is_err() {
                return;
            }
        }
    })?;
    Ok(line)
}

fn carry_out(cluster: &dyn Cluster, call: ClusterCall) -> Option<ClusterAnswer> {
    Some(match call {
        ClusterCall::Survey => ClusterAnswer::Surveyed(cluster.survey(&[])),
        ClusterCall::Look => ClusterAnswer::Seen {
            asked: Instant::now(),
            seen: cluster.look(),
        },
        ClusterCall::Submit(mut submission) => {
            let mut taken = cluster.submit(&submission);
            if taken.is_err() && !mem::take(&mut submission.avoid).is_empty() {
                // There may be no others.
                taken = cluster.submit(&submission);
            }
            if taken.is_ok() {
                crash_point(CrashPoint::SubmissionSent);
            }
            let submission = submission.name;
            ClusterAnswer::Submitted { submission, taken }
        }
        ClusterCall::End(units, how) => {
            // Asked for again at the next look.
            let _ = cluster.end(&units, how);
            return None;
        }
        ClusterCall::SaySecrets {
            job,
            fence,
            program,
            text,
        } => {
            let said = cluster.say(
                job.as_deref(),
                &NodeCall {
                    program: &program,
                    words: &[HEAR, &fence],
                    input: &text,
                },
            );
            if said.is_ok() {
                crash_point(CrashPoint::SecretsSaid);
            }
            ClusterAnswer::SaidSecrets { fence, said }
        }
    })
}
