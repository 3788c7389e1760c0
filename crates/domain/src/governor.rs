//! How many tasks may run at once on a machine that is as busy as this.
//!
//! Knows numbers; who measures them is elsewhere.

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MachineLoad {
    pub cores: usize,
    pub load: f64,
    pub memory: f64,
    pub running: usize,
}

pub fn first_guess(tasks: usize) -> usize {
    match tasks {
        ..10 => 3,
        10..=30 => 4,
        _ => 5,
    }
}

/// Another number than so many, and why; nothing if that is right.
pub fn advise(slots: usize, tasks: usize, machine: MachineLoad) -> Option<(usize, String)> {
    let cores = machine.cores.max(1);
    let most = first_guess(tasks).max(2 * cores).min(64);
    let load = machine.load / f64::from(u32::try_from(cores).unwrap_or(u32::MAX));
    if machine.memory < 0.15 && slots > 1 {
        return Some((slots - 1, "memory is low".to_owned()));
    }
    if load > 1.5 && slots > 1 {
        return Some((slots - 1, "the machine is busy".to_owned()));
    }
    // One more is of use only if all are taken.
    let is_idle = load < 0.75 && machine.memory > 0.3;
    if is_idle && machine.running >= slots && slots < most {
        return Some((slots + 1, "the machine has spare capacity".to_owned()));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(load: f64, memory: f64, running: usize) -> MachineLoad {
        MachineLoad {
            cores: 4,
            load,
            memory,
            running,
        }
    }

    #[track_caller]
    fn check(slots: usize, machine: MachineLoad, expected: Option<usize>) {
        let advice = advise(slots, 5, machine).map(|(slots, _)| slots);
        assert_eq!(advice, expected);
    }

    #[test]
    fn the_number_follows_load_and_memory_step_by_step() {
        check(3, machine(4.0, 0.5, 3), None);
        check(3, machine(6.1, 0.5, 3), Some(2));
        check(3, machine(0.1, 0.14, 3), Some(2));
        check(3, machine(0.1, 0.5, 3), Some(4));
        check(3, machine(0.1, 0.29, 3), None);
        // Whoever does not use what there is needs no more.
        check(3, machine(0.1, 0.5, 2), None);
    }

    #[test]
    fn there_is_a_least_and_a_most() {
        check(1, machine(99.0, 0.01, 1), None);
        check(8, machine(0.0, 0.9, 8), None);
        check(7, machine(0.0, 0.9, 7), Some(8));
    }

    #[test]
    fn more_tasks_begin_with_more_at_once() {
        let guesses = [0, 9, 10, 30, 31].map(first_guess);
        assert_eq!(guesses, [3, 3, 4, 4, 5]);
    }
}
