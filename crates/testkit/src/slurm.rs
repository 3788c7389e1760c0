//! A real Slurm of a few nodes on this machine: a controller, a daemon for each node, and what they know each other by.
//!
//! Its daemons are children of the test, and go with it.

use std::ffi::OsStr;
use std::fs;
use std::net::TcpListener;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// What a controller, nodes and jobs may take to come or to go.
const PATIENCE: Duration = Duration::from_secs(30);

/// The controller stays with us, and does not mind that it has no state yet.
const CONTROLLER: [&str; 2] = ["-D", "-i"];

/// How many processors a node has unless a test says otherwise.
const PROCESSORS: usize = 4;

/// How often they are looked for.
const LOOK: Duration = Duration::from_millis(50);

/// The GPUs of a node: two devices that every machine has stand in for them.
const GPUS: &str = "Name=gpu File=/dev/null\nName=gpu File=/dev/zero\n";

/// What has the memory of jobs looked at, in the place of what does not.
const ENFORCING: &str =
    "jobacct_gather/linux\nJobAcctGatherFrequency=task=1\nJobAcctGatherParams=OverMemoryKill";

/// The line to type where it is missing.
const HINT: &str =
    "Slurm is missing: apt-get install --no-install-recommends slurmctld slurmd slurm-client munge";

pub struct SlurmCluster {
    munge: Child,
    controller: Child,
    nodes: Vec<Child>,
    folder: TempDir,
}

impl SlurmCluster {
    /// Starts one with so many nodes of four processors and two GPUs each, named `n1`, `n2` and so on.
    pub fn start(nodes: usize) -> Self {
        Self::start_as(nodes, PROCESSORS, &[])
    }

    /// The same with so many processors on each node, as Slurm is told.
    pub fn start_wide(nodes: usize, processors: usize) -> Self {
        Self::start_as(nodes, processors, &[])
    }

    /// The same with words in front of the program of each node, which call it in surroundings of their own.
    pub fn start_behind(nodes: usize, words: &[String]) -> Self {
        Self::start_as(nodes, PROCESSORS, words)
    }

    fn start_as(nodes: usize, processors: usize, words: &[String]) -> Self {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let place = folder.path();
        let munge = start_munge(place);
        write_conf(place, nodes, processors);
        let controller = daemon(place, "slurmctld", &CONTROLLER);
        let start_node = |number| {
            let words = words.iter().map(String::as_str);
            let name = node(number);
            let own = ["slurmd", "-D", "-c", "-N", &name];
            let words: Vec<&str> = words.chain(own).collect();
            daemon(place, words[0], &words[1..])
        };
        let nodes = (1..=nodes).map(start_node).collect();
        let cluster = Self {
            munge,
            controller,
            nodes,
            folder,
        };
        cluster.await_idle();
        cluster
    }

    /// The file that its programs have to be told of, as `SLURM_CONF`.
    pub fn conf(&self) -> PathBuf {
        conf(self.folder.path())
    }

    /// A program of it, which speaks to this cluster alone.
    pub fn program(&self, name: &str) -> Command {
        let mut command = Command::new(name);
        command.env("SLURM_CONF", self.conf());
        command
    }

    /// Gives what runs on a node a variable that it does not have elsewhere.
    pub fn set_on_node(&self, number: usize, name: &str, value: &Path) {
        let file = self.folder.path().join(format!("env.{}", node(number)));
        let line = format!("export {name}={}\n", value.display());
        fs::write(file, line).expect("there is room");
    }

    /// Has everything fail on a node before it begins.
    pub fn break_node(&self, number: usize) {
        let file = self.folder.path().join(format!("broken.{}", node(number)));
        fs::write(file, "").expect("there is room");
    }

    /// All that Slurm says of each job that it knows, in one line each.
    pub fn jobs(&self) -> Vec<String> {
        let mut scontrol = self.program("scontrol");
        let printed = scontrol.args(["-o", "show", "job"]).output();
        let printed = printed.expect("scontrol is installed").stdout;
        let printed = String::from_utf8_lossy(&printed);
        printed.lines().map(str::to_owned).collect()
    }

    /// What is in the queue: for each element its name and its state.
    pub fn queue(&self) -> Vec<String> {
        let mut squeue = self.program("squeue");
        let printed = squeue.args(["-h", "-r", "-o", "%j %T"]).output();
        let printed = printed.expect("squeue is installed").stdout;
        let printed = String::from_utf8_lossy(&printed);
        printed.lines().map(str::to_owned).collect()
    }

    /// Waits until nothing is in the queue.
    pub fn await_empty_queue(&self) {
        await_that("the queue is empty", || self.queue().is_empty());
    }

    /// Kills the daemon of a node and everything that runs there, as if its power had failed.
    pub fn kill_node(&mut self, number: usize) {
        let steps = self.steps_on(number);
        self.kill_daemon(number);
        kill_families(steps);
    }

    /// Stops a node with everything that runs there, as a machine that sleeps; what can be woken again.
    pub fn freeze_node(&mut self, number: usize) -> Frozen {
        let steps = self.steps_on(number);
        self.kill_daemon(number);
        Frozen(stop_families(steps))
    }

    /// Says to the controller what it finds out by itself after a while: a node is gone, with all that ran there.
    pub fn give_up_node(&self, number: usize) {
        let name = format!("NodeName={}", node(number));
        let mut scontrol = self.program("scontrol");
        scontrol.args(["update", &name, "State=DOWN", "Reason=gone"]);
        let status = scontrol.status().expect("scontrol is installed");
        assert!(status.success(), "{name} is known");
    }

    /// Has a job that comes before all others take a whole node until it is cancelled; its number.
    pub fn submit_urgent(&self, node_number: usize) -> String {
        let mut sbatch = self.program("sbatch");
        sbatch.args(["--parsable", "--partition=urgent", "--exclusive"]);
        sbatch.args(["--chdir=/", "--output=/dev/null", "--wrap=sleep 600"]);
        sbatch.args(["-w", &node(node_number)]);
        let printed = sbatch.output().expect("sbatch is installed").stdout;
        String::from_utf8_lossy(&printed).trim().to_owned()
    }

    /// Has Slurm kill jobs that use more memory than they asked for, once a second, from now on.
    pub fn enforce_memory(&mut self) {
        let conf = self.conf();
        let text = fs::read_to_string(&conf).expect("it was written");
        let text = text.replace("jobacct_gather/none", ENFORCING);
        fs::write(conf, text.replace("CR_CPU", "CR_CPU_Memory")).expect("there is room");
        for number in 1..=self.nodes.len() {
            self.kill_daemon(number);
            self.revive_node(number);
        }
        self.kill_controller();
        self.revive_controller();
        self.await_idle();
    }

    /// How many units run on a node.
    pub fn running_on(&self, number: usize) -> usize {
        self.steps_on(number).len()
    }

    fn steps_on(&self, number: usize) -> Vec<Pid> {
        let mut squeue = self.program("squeue");
        squeue.args(["-h", "-r", "-w", &node(number), "-o", "%A"]);
        let printed = squeue.output().expect("squeue is installed").stdout;
        let printed = String::from_utf8_lossy(&printed);
        let titles: Vec<String> = printed.lines().map(|job| format!("[{job}.")).collect();
        let is_there = |step: &Pid| titles.iter().any(|title| title_of(*step).contains(title));
        self.steps().into_iter().filter(is_there).collect()
    }

    /// Kills the daemon of a node alone: what it runs goes on, and nobody can reach it.
    pub fn kill_daemon(&mut self, number: usize) {
        let daemon = &mut self.nodes[number - 1];
        let _ = daemon.kill();
        let _ = daemon.wait();
    }

    /// Kills the controller: what runs goes on, and nobody can ask for anything.
    pub fn kill_controller(&mut self) {
        let _ = self.controller.kill();
        let _ = self.controller.wait();
    }

    /// Starts the controller once more; it knows what it knew.
    pub fn revive_controller(&mut self) {
        self.controller = daemon(self.folder.path(), "slurmctld", &CONTROLLER);
        await_that("the controller answers", || {
            let printed = self.program("squeue").arg("-h").output();
            printed.is_ok_and(|printed| printed.status.success())
        });
    }

    /// Starts the daemon of a node once more.
    pub fn revive_node(&mut self, number: usize) {
        let words = ["-D", "-c", "-N", &node(number)];
        self.nodes[number - 1] = daemon(self.folder.path(), "slurmd", &words);
    }

    fn await_idle(&self) {
        let count = self.nodes.len();
        let is_idle = || {
            let mut sinfo = self.program("sinfo");
            let printed = sinfo.args(["-h", "-N", "-p", "all", "-o", "%T"]).output();
            let printed = printed.map(|printed| printed.stdout).unwrap_or_default();
            let printed = String::from_utf8_lossy(&printed);
            printed.lines().filter(|state| *state == "idle").count() == count
        };
        await_that("all nodes are idle", is_idle);
    }

    /// What looks after the jobs of this cluster, on whichever node.
    fn steps(&self) -> Vec<Pid> {
        let mark = [b"SLURM_CONF=", self.conf().as_os_str().as_bytes()].concat();
        let is_ours = |pid: &Pid| {
            let environment = fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero()));
            let environment = environment.unwrap_or_default();
            let mut variables = environment.split(|byte| *byte == 0);
            title_of(*pid).starts_with("slurmstepd") && variables.any(|there| there == mark)
        };
        all_processes().filter(is_ours).collect()
    }
}

impl Drop for SlurmCluster {
    fn drop(&mut self) {
        for child in self.nodes.iter_mut().chain([&mut self.controller]) {
            let _ = child.kill();
            let _ = child.wait();
        }
        kill_families(self.steps());
        let _ = self.munge.kill();
        let _ = self.munge.wait();
    }
}

fn node(number: usize) -> String {
    format!("n{number}")
}

fn conf(place: &Path) -> PathBuf {
    place.join("slurm.conf")
}

fn start_munge(place: &Path) -> Child {
    let key = place.join("munge.key");
    let mut options = fs::File::options();
    let file = options.write(true).create_new(true).mode(0o400).open(&key);
    let random = fs::File::open("/dev/urandom").expect("there is randomness");
    let random = &mut std::io::Read::take(random, 128);
    std::io::copy(random, &mut file.expect("the folder is empty")).expect("there is room");
    let mut munged = started_with_us("munged");
    munged.args(["--foreground", "--force", "--num-threads=2"]);
    for (word, name) in [
        ("--key-file", "munge.key"),
        ("--socket", "munge.socket"),
        ("--pid-file", "munge.pid"),
        ("--log-file", "munge.log"),
        ("--seed-file", "munge.seed"),
    ] {
        munged.arg(word).arg(place.join(name));
    }
    let started = munged.spawn().expect(HINT);
    let socket = place.join("munge.socket");
    await_that("munge listens", || socket.exists());
    started
}

fn write_conf(place: &Path, nodes: usize, processors: usize) {
    let host = rustix::system::uname();
    let host = host.nodename().to_string_lossy().into_owned();
    let user = rustix::process::getuid().as_raw();
    let shown = place.display();
    let mut ports = free_ports(nodes + 1).into_iter();
    let mut next = || ports.next().expect("there are as many as were asked for");
    let mut text = format!(
        "ClusterName=pleach
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={shown}/munge.socket
CredType=cred/munge
StateSaveLocation={shown}/state
SlurmdSpoolDir={shown}/spool.%n
SlurmctldPidFile={shown}/slurmctld.pid
SlurmdPidFile={shown}/slurmd.%n.pid
SlurmctldLogFile={shown}/slurmctld.log
SlurmdLogFile={shown}/slurmd.%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
TaskProlog={shown}/prolog
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=10000
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
MaxJobCount=20000
SlurmdTimeout=10
KillWait=5
GresTypes=gpu
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=gpu Nodes=ALL MaxTime=INFINITE State=UP
PartitionName=cheap Nodes=ALL MaxTime=INFINITE State=UP PreemptMode=CANCEL
PartitionName=urgent Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=2
",
        next()
    );
    for number in 1..=nodes {
        let (name, port) = (node(number), next());
        let line = format!(
            "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={processors} RealMemory=4000 Gres=gpu:2\n"
        );
        text.push_str(&line);
    }
    write_prolog(place);
    fs::create_dir(place.join("state")).expect("the folder is empty");
    fs::write(place.join("gres.conf"), GPUS).expect("there is room");
    fs::write(conf(place), text).expect("there is room");
}

/// What runs on a node before a job does.
fn write_prolog(place: &Path) {
    let shown = place.display();
    let prolog = format!(
        "#!/bin/sh\n[ ! -e {shown}/broken.$SLURMD_NODENAME ] || exit 1\n\
         cat {shown}/env.$SLURMD_NODENAME 2> /dev/null\nexit 0\n"
    );
    let mut options = fs::File::options();
    let options = options.write(true).create_new(true).mode(0o755);
    let file = options.open(place.join("prolog"));
    std::io::Write::write_all(&mut file.expect("the folder is empty"), prolog.as_bytes())
        .expect("there is room");
}

/// Ports that nobody listens on at the moment.
fn free_ports(count: usize) -> Vec<u16> {
    let listen = |_| TcpListener::bind(("127.0.0.1", 0)).expect("there are free ports");
    let held: Vec<TcpListener> = (0..count).map(listen).collect();
    let port = |held: &TcpListener| held.local_addr().expect("it listens").port();
    held.iter().map(port).collect()
}

fn daemon(place: &Path, name: &str, words: &[&str]) -> Child {
    let mut daemon = started_with_us(name);
    daemon.args(words).env("SLURM_CONF", conf(place));
    daemon.spawn().expect(HINT)
}

/// A program that ends with the thread that starts it, even if that is killed.
fn started_with_us(name: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--", name]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // Daemons are where the system keeps what only administrators start.
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{path}:/usr/sbin:/sbin"));
    command
}

/// Looks until something is so.
#[track_caller]
pub fn await_that(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "it took too long until {what}");
        thread::sleep(LOOK);
    }
}

fn all_processes() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let number = entry.file_name().to_str()?.parse().ok()?;
        Pid::from_raw(number)
    })
}

fn title_of(pid: Pid) -> String {
    let words = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero()));
    String::from_utf8_lossy(&words.unwrap_or_default()).into_owned()
}

/// Processes that were stopped together.
pub struct Frozen(Vec<Pid>);

impl Frozen {
    /// Lets them go on, and waits until all have ended.
    pub fn thaw(self) {
        for pid in &self.0 {
            let _ = kill_process(*pid, Signal::CONT);
        }
        // What has ended and was not collected has no title any more.
        let is_alive = |pid: &Pid| !title_of(*pid).is_empty();
        await_that("what was thawed has ended", || !self.0.iter().any(is_alive));
    }
}

/// Kills processes and all below them.
fn kill_families(members: Vec<Pid>) {
    for pid in stop_families(members) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Stops processes and all below them: whoever is stopped starts nobody meanwhile.
fn stop_families(mut members: Vec<Pid>) -> Vec<Pid> {
    let mut stopped = 0;
    while stopped < members.len() {
        let _ = kill_process(members[stopped], Signal::STOP);
        let above = members[stopped];
        members.extend(all_processes().filter(|pid| parent(*pid) == Some(above)));
        stopped += 1;
    }
    members
}

fn parent(pid: Pid) -> Option<Pid> {
    let stat = fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    let after = stat.rsplit(|byte| *byte == b')').next()?;
    let mut fields = after.split(|byte| *byte == b' ').skip(2);
    let text = OsStr::from_bytes(fields.next()?).to_str()?;
    Pid::from_raw(text.parse().ok()?)
}
