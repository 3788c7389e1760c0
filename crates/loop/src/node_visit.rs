//! Has a cluster run one unit that looks at its node, and waits for what that found.
//!
//! Belongs to no batch: nothing of it is stored, and nothing of it stays.

use std::fs;
use std::io;
use std::slice;
use std::thread;
use std::time::{Duration, Instant};

use pleach_domain::id::BatchNumber;
use pleach_engine::cluster::{
    Cluster, EndHow, NodeCall, SizeSurvey, Submission, UnitName, UnitOver, UnitRequest, UnitState,
    cluster_of,
};
use pleach_engine::config::DEFAULT_SIZE;
use pleach_engine::doctor::{CheckLevel, DoctorCheck, NodeReport, NodeVisit};
use pleach_git::worktree::Included;
use pleach_log::queue_report::waiting_line;
use pleach_system::files::stored_path::StoredPath;
use pleach_system::pace::paced;
use pleach_system::process::fresh_nonce;
use pleach_system::text::causes::with_causes;

use crate::dispatcher::{ClusterPlace, PlaceInput, harmless_variables};
use crate::node_runner::HEAR;
use crate::spool::{
    Heartbeat, NodePhase, NodeWork, Orders, OrdersHead, PROTOCOL, SubmissionFolder, UnitEnding,
    UnitOrder,
};
use crate::unit_secrets::{SecretsRoute, UnitSecrets};

/// How often its folder is looked at.
const TICK: Duration = Duration::from_millis(500);

/// How often the cluster is asked: somebody sits there and waits.
const LOOK: Duration = Duration::from_secs(3);

/// How long it may wait in the queue.
const PATIENCE: Duration = Duration::from_mins(10);

/// How often the cluster may say that it is over before its answer is given up.
const MOST_MISSES: u32 = 3;

/// How long looking takes at most, by far.
const TIME: Duration = Duration::from_mins(10);

/// The only unit of its submission.
const UNIT: u32 = 1;

/// Sends it and waits for it; tells what it waits for.
pub fn examine_node(visit: &NodeVisit, told: &mut dyn FnMut(&str)) -> NodeReport {
    let mut report = NodeReport::default();
    let mut findings = survey(visit);
    // What takes nothing of what it is asked for has no node for us.
    if !findings
        .iter()
        .all(|found| found.level == CheckLevel::Error)
    {
        let found = SentVisit::send(visit).and_then(|sent| sent.wait(&mut report, told));
        findings.extend(found.unwrap_or_else(|finding| vec![finding]));
    }
    report.findings = findings;
    report
}

/// What the cluster says to each size.
fn survey(visit: &NodeVisit) -> Vec<DoctorCheck> {
    let cluster = cluster_of(&visit.cluster.slurm, &visit.cluster.share);
    let requests = visit.cluster.sizes.iter().map(|size| UnitRequest {
        time: visit.attempts.for_size(size).unit_time(),
        size: size.clone(),
    });
    let surveyed = match cluster.survey(&requests.collect::<Vec<_>>()) {
        Ok(surveyed) => surveyed.sizes,
        Err(error) => {
            let fix = "check that `scontrol show config` works on this machine";
            return vec![DoctorCheck::error("cluster", with_causes(&error), fix)];
        }
    };
    let finding = |SizeSurvey { size, answer, .. }| match answer {
        Ok(says) => DoctorCheck::fine("size", format!("{size}: {says}")),
        Err(why) => {
            let fix = format!("change [sizes.{size}] or [slurm]; `sinfo` shows what there is");
            DoctorCheck::error("size", format!("{size}: {why}"), fix)
        }
    };
    surveyed.into_iter().map(finding).collect()
}

/// A look that is under way; whatever comes of it, nothing of it stays.
struct SentVisit {
    cluster: Box<dyn Cluster>,
    place: ClusterPlace,
    folder: SubmissionFolder,
    name: UnitName,
    fence: String,
    secrets: UnitSecrets,
    sent: Instant,
    /// What the cluster said last.
    state: Option<UnitState>,
    misses: u32,
    /// It clears up on its own then.
    has_answered: bool,
}

impl Drop for SentVisit {
    fn drop(&mut self) {
        if !self.has_answered && !matches!(self.state, Some(UnitState::Over(_))) {
            // One that goes on finds its folder gone, and ends.
            let _ = self
                .cluster
                .end(slice::from_ref(&self.name), EndHow::ForGood);
        }
        let _ = self.folder.remove();
    }
}

/// That the share cannot be used, or not by us.
fn unusable(visit: &NodeVisit, error: &dyn std::error::Error) -> DoctorCheck {
    let share = visit.cluster.share.display();
    let message = format!("could not write to {share}: {}", with_causes(error));
    let fix = "set cluster.share to a folder that you can write to";
    DoctorCheck::error("share", message, fix)
}

/// What the node is to do, and what is sent there besides.
struct VisitOrders {
    name: String,
    fence: String,
    orders: Orders,
    secrets: UnitSecrets,
}

impl VisitOrders {
    fn new(visit: &NodeVisit, place: &ClusterPlace) -> Result<Self, DoctorCheck> {
        let nonces = fresh_nonce().and_then(|fence| Ok((fence, fresh_nonce()?)));
        let (fence, word) = nonces.map_err(|error| unusable(visit, &error))?;
        let lent = visit.store.lend(&place.depot, slice::from_ref(&visit.base));
        let secrets = UnitSecrets::of_variables(visit.passed_on.clone());
        let names = secrets.variables.iter().map(|(name, _)| name.clone());
        let look = NodeWork::Look {
            look: Box::new(visit.needs.clone()),
            variables: names.collect(),
        };
        let none = Included::default();
        let head = OrdersHead {
            protocol: PROTOCOL,
            program: StoredPath(place.program.clone()),
            batch: BatchNumber(0),
            project_name: place.project.clone(),
            project: lent.map_err(|error| unusable(visit, &error))?,
            settings: visit.attempts.clone(),
            env: harmless_variables(),
            secrets: place.secrets.wanted(&secrets.variables, &none),
            scratch: place.scratch.clone(),
            pace: place.pace,
            closed: Vec::new(),
            min_free_disk: place.min_free_disk,
        };
        let unit = UnitOrder {
            unit: UNIT,
            fence: fence.clone(),
            work: look,
        };
        let units = vec![unit];
        Ok(Self {
            name: format!("look-{}", &word[..8]),
            fence,
            orders: Orders { head, units },
            secrets,
        })
    }

    /// Puts them on the share.
    fn write(&self, place: &ClusterPlace) -> io::Result<SubmissionFolder> {
        let folder = SubmissionFolder::at(place.home.join(&self.name));
        if self.orders.head.secrets == SecretsRoute::File {
            folder.put_secrets(UNIT, &self.secrets.text())?;
        }
        folder.write(&self.orders)?;
        Ok(folder)
    }
}

impl SentVisit {
    fn send(visit: &NodeVisit) -> Result<Self, DoctorCheck> {
        let input = PlaceInput {
            state: &visit.state,
            store: &visit.store,
            program: &visit.program,
            radar: None,
            // What there is is told, however little.
            min_free_disk: 0,
        };
        let place = ClusterPlace::prepare(&visit.cluster, &input);
        let place = place.map_err(|error| unusable(visit, &error))?;
        let written = VisitOrders::new(visit, &place)?;
        let folder = written.write(&place);
        let folder = folder.map_err(|error| unusable(visit, &error))?;
        let submission = Submission {
            name: written.name.clone(),
            folder: folder.path().to_owned(),
            units: 1,
            program: place.program.clone(),
            request: UnitRequest {
                size: { visit.cluster.sizes.iter() }
                    .find(|size| size.name == DEFAULT_SIZE)
                    .cloned()
                    .unwrap_or_default(),
                time: TIME,
            },
            avoid: Vec::new(),
        };
        let sent = Self {
            cluster: cluster_of(&visit.cluster.slurm, &place.home),
            place,
            folder,
            name: UnitName {
                submission: written.name,
                unit: UNIT,
            },
            fence: written.fence,
            secrets: written.secrets,
            sent: Instant::now(),
            state: None,
            misses: 0,
            has_answered: false,
        };
        sent.cluster.submit(&submission).map_err(|error| {
            let fix = "submit a job of your own with sbatch to see what it wants";
            DoctorCheck::error("cluster", with_causes(&error), fix)
        })?;
        Ok(sent)
    }

    fn wait(
        mut self,
        report: &mut NodeReport,
        told: &mut dyn FnMut(&str),
    ) -> Result<Vec<DoctorCheck>, DoctorCheck> {
        let (mut looked, mut has_said, mut line) = (None::<Instant>, false, None);
        loop {
            let heartbeat = self.folder.unit(UNIT).heartbeat();
            let heartbeat = heartbeat.filter(|beat| beat.fence == self.fence);
            match heartbeat.as_ref().map(|beat| beat.phase) {
                Some(NodePhase::Done) => {
                    self.has_answered = true;
                    return self.take(report);
                }
                Some(NodePhase::Hearing) if !has_said => {
                    let job = heartbeat.as_ref().and_then(|beat| beat.job.as_deref());
                    self.say_secrets(job)?;
                    has_said = true;
                }
                _ => {}
            }
            report.node = heartbeat.map(|Heartbeat { node, .. }| node);
            if looked.is_none_or(|looked| looked.elapsed() >= paced(LOOK)) {
                looked = Some(Instant::now());
                self.look()?;
                let waits_for = self.waits_for();
                if let Some(news) = waits_for.clone().filter(|news| line.as_ref() != Some(news)) {
                    told(&news);
                }
                line = waits_for;
            }
            if self.misses >= MOST_MISSES {
                return Err(self.ended_without_answer());
            }
            if report.node.is_none() && self.sent.elapsed() > PATIENCE {
                return Err(self.waited_in_vain());
            }
            thread::sleep(paced(TICK));
        }
    }

    fn say_secrets(&self, job: Option<&str>) -> Result<(), DoctorCheck> {
        let input = self.secrets.text();
        let call = NodeCall {
            program: &self.place.program,
            words: &[HEAR, &self.fence],
            input: &input,
        };
        self.cluster.say(job, &call).map_err(|error| {
            let message = format!("could not send secrets to a node: {}", with_causes(&error));
            let fix =
                "check that `srun` works from this machine, and that nodes may connect back to it";
            DoctorCheck::error("secrets", message, fix)
        })
    }

    /// Asks the cluster how it is; one that forgot it, or ended it, may have its answer on the way.
    fn look(&mut self) -> Result<(), DoctorCheck> {
        let seen = self.cluster.look().map_err(|error| {
            let fix = "check that `squeue` works on this machine";
            DoctorCheck::error("cluster", with_causes(&error), fix)
        })?;
        let own = seen.into_iter().find(|unit| unit.name == self.name);
        self.state = own.map(|unit| unit.state);
        self.misses = match self.state {
            Some(UnitState::Waiting(_) | UnitState::Running) => 0,
            Some(UnitState::Over(_)) | None => self.misses + 1,
        };
        Ok(())
    }

    fn waits_for(&self) -> Option<String> {
        match &self.state {
            Some(UnitState::Waiting(why)) => {
                Some(waiting_line(self.cluster.name(), why.as_deref()))
            }
            _ => None,
        }
    }

    fn take(&self, report: &mut NodeReport) -> Result<Vec<DoctorCheck>, DoctorCheck> {
        let unreadable = |why: String| {
            let share = self.place.home.display();
            let fix = "check that this machine and the nodes see the same files there";
            DoctorCheck::error("share", format!("could not read from {share}: {why}"), fix)
        };
        let result = self.folder.unit(UNIT).result();
        let result = result.map_err(|error| unreadable(error.to_string()))?;
        let findings = match result.ended {
            UnitEnding::Looked(findings) => findings,
            UnitEnding::Unfit(why) => {
                let fix =
                    "set cluster.scratch to a folder on the nodes' own disks that you can write to";
                vec![DoctorCheck::error("scratch", why, fix)]
            }
            _ => return Err(unreadable("it is an answer to something else".to_owned())),
        };
        let (cluster, node) = (self.cluster.name(), &result.node);
        let took = self.sent.elapsed().as_secs_f64();
        let share = self.place.home.display();
        let mut all = vec![
            DoctorCheck::fine(
                "cluster",
                format!("{cluster} ran a unit on {node} in {took:.1}s"),
            ),
            DoctorCheck::fine("share", format!("{node} reads and writes {share}")),
        ];
        all.extend(findings);
        report.node = Some(result.node);
        Ok(all)
    }

    fn ended_without_answer(&self) -> DoctorCheck {
        let how = match &self.state {
            Some(UnitState::Over(UnitOver::Lost(why) | UnitOver::Failed(why))) => why.clone(),
            Some(UnitState::Over(UnitOver::Cancelled)) => "somebody cancelled its job".to_owned(),
            Some(UnitState::Over(UnitOver::OutOfMemory)) => "it ran out of memory".to_owned(),
            Some(UnitState::Over(UnitOver::TimedOut)) => "its time was over".to_owned(),
            _ => "it is not in the queue".to_owned(),
        };
        let said = fs::read_to_string(self.folder.path().join(format!("job.{UNIT}.out")));
        let said = said.unwrap_or_default();
        let said = said.lines().last().map(|line| format!(": {line}"));
        let message = format!(
            "a unit ended without an answer: {how}{}",
            said.unwrap_or_default()
        );
        let share = self.place.home.display();
        let fix = format!("check on a node that {share} is there and that you can write to it");
        DoctorCheck::error("cluster", message, fix)
    }

    fn waited_in_vain(&self) -> DoctorCheck {
        let why = self.waits_for().map(|line| format!(": {line}"));
        let minutes = PATIENCE.as_secs() / 60;
        let message = format!(
            "no node began within {minutes} minutes{}",
            why.unwrap_or_default()
        );
        let fix = "ask again when the cluster has room, or for less";
        DoctorCheck::warning("cluster", message, fix)
    }
}
