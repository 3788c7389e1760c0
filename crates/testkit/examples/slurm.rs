//! Runs a Slurm of so many nodes in the foreground, to try clusters by hand: `slurm [NODES]`.
//!
//! Prints the file that its programs have to be told of as `SLURM_CONF`, and ends with its own input.

#![expect(clippy::print_stdout, reason = "people want to see where it is")]

use pleach_testkit::SlurmCluster;

fn main() -> std::io::Result<()> {
    let nodes = std::env::args().nth(1);
    let nodes = nodes.map_or(1, |nodes| nodes.parse().expect("a number of nodes"));
    let cluster = SlurmCluster::start(nodes);
    println!("{}", cluster.conf().display());
    std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink()).map(drop)
}
