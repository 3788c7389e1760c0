//! System calls that no build needs and that reach past the places that are open: refused to the calling thread.
//!
//! A list of what is refused, not of what is allowed: a program must not notice anything of it. Knows nothing of files.

use std::sync::OnceLock;

use seccompiler::{BpfProgram, apply_filter, sock_filter};

use crate::process::SystemCalls;

/// Numbers of system calls on one architecture.
struct Calls {
    architecture: u32,
    /// Where a second table of the same calls begins that nobody uses.
    other_table: Option<u32>,
    /// Refused unless it is about the calling process: limits of a wrapper or an engine can end it.
    prlimit64: u32,
    /// Refused for what types into a terminal.
    ioctl: u32,
    /// Refused for all processes of a user, and for groups other than one's own.
    setpriority: u32,
    ioprio_set: u32,
    /// Refused always: memory and files of other processes, keys that all processes of a user share, files by number,
    /// and parts of the kernel that are known for their holes.
    refused: [u32; 18],
}

/// In all: `process_vm_readv`, `process_vm_writev`, `kcmp`, `pidfd_getfd`, `process_madvise`, `process_mrelease`,
/// `userfaultfd`, `add_key`, `request_key`, `keyctl`, `bpf`, `perf_event_open`, `open_by_handle_at`, `kexec_load`,
/// `kexec_file_load`, `init_module`, `finit_module`, `delete_module`.
const CALLS: [Calls; 4] = [
    // x86_64; beyond the bit is x32, whose calls have other numbers.
    Calls {
        architecture: 0xc000_003e,
        other_table: Some(0x4000_0000),
        prlimit64: 302,
        ioctl: 16,
        setpriority: 141,
        ioprio_set: 251,
        refused: [
            310, 311, 312, 438, 440, 448, 323, 248, 249, 250, 321, 298, 304, 246, 320, 175, 313,
            176,
        ],
    },
    // i386, which has no kexec_file_load.
    Calls {
        architecture: 0x4000_0003,
        other_table: None,
        prlimit64: 340,
        ioctl: 54,
        setpriority: 97,
        ioprio_set: 289,
        refused: [
            347, 348, 349, 438, 440, 448, 374, 286, 287, 288, 357, 336, 342, 283, 283, 128, 350,
            129,
        ],
    },
    // aarch64
    Calls {
        architecture: 0xc000_00b7,
        other_table: None,
        prlimit64: 261,
        ioctl: 29,
        setpriority: 140,
        ioprio_set: 30,
        refused: [
            270, 271, 272, 438, 440, 448, 282, 217, 218, 219, 280, 241, 265, 104, 294, 105, 273,
            106,
        ],
    },
    // arm
    Calls {
        architecture: 0x4000_0028,
        other_table: None,
        prlimit64: 369,
        ioctl: 54,
        setpriority: 97,
        ioprio_set: 314,
        refused: [
            376, 377, 378, 438, 440, 448, 388, 309, 310, 311, 386, 364, 371, 347, 401, 128, 379,
            129,
        ],
    },
];

/// Types a letter into a terminal.
const TIOCSTI: u32 = 0x5412;

/// Selects and pastes on the console.
const TIOCLINUX: u32 = 0x541c;

const PRIO_PROCESS: u32 = 0;
const IOPRIO_WHO_PROCESS: u32 = 1;

const EPERM: u32 = 1;
const ENOSYS: u32 = 38;

/// Refuses these calls to the calling thread and whatever it starts, for good.
pub(super) fn refuse_calls() -> Result<(), String> {
    apply_filter(&program()).map_err(|error| error.to_string())
}

/// Whether this system lets us refuse calls; tried once, by a thread that ends with it.
pub(crate) fn can_refuse_calls() -> bool {
    static KNOWN: OnceLock<bool> = OnceLock::new();
    *KNOWN.get_or_init(|| {
        let refused = std::thread::spawn(refuse_calls).join();
        refused.is_ok_and(|refused| refused.is_ok())
    })
}

/// Which calls a program may use here that is held.
pub(crate) fn refusable_calls() -> SystemCalls {
    if can_refuse_calls() {
        SystemCalls::Filtered
    } else {
        SystemCalls::All
    }
}

/// What the kernel runs at each call: the calls of the architecture that it is on, and nothing on others.
fn program() -> BpfProgram {
    let mut program = vec![load(ARCHITECTURE)];
    for calls in &CALLS {
        let own = calls.program();
        let length = u8::try_from(own.len()).expect("it is short, as a test shows");
        program.push(jump_if(EQUAL, calls.architecture, 0, length));
        program.extend(own);
    }
    program.push(answer(ALLOW));
    program
}

impl Calls {
    fn program(&self) -> BpfProgram {
        let mut program = vec![load(NUMBER)];
        if let Some(first) = self.other_table {
            program.extend([jump_if(AT_LEAST, first, 0, 1), answer(ERROR | ENOSYS)]);
        }
        program.extend([
            jump_if(EQUAL, self.prlimit64, 0, 4),
            load(argument(0)),
            jump_if(EQUAL, 0, 0, 1),
            answer(ALLOW),
            answer(ERROR | EPERM),
            jump_if(EQUAL, self.ioctl, 0, 5),
            load(argument(1)),
            jump_if(EQUAL, TIOCSTI, 2, 0),
            jump_if(EQUAL, TIOCLINUX, 1, 0),
            answer(ALLOW),
            answer(ERROR | EPERM),
        ]);
        program.extend(priority_of_others(self.setpriority, PRIO_PROCESS));
        program.extend(priority_of_others(self.ioprio_set, IOPRIO_WHO_PROCESS));
        for number in self.refused {
            program.extend([jump_if(EQUAL, number, 0, 1), answer(ERROR | EPERM)]);
        }
        program.push(answer(ALLOW));
        program
    }
}

/// Refuses a call that changes priorities, unless it is about a process or the own group: `process` is what it calls
/// processes, next to which are groups.
fn priority_of_others(call: u32, process: u32) -> [sock_filter; 8] {
    [
        jump_if(EQUAL, call, 0, 7),
        load(argument(0)),
        jump_if(EQUAL, process, 3, 0),
        jump_if(EQUAL, process + 1, 0, 3),
        load(argument(1)),
        jump_if(EQUAL, 0, 0, 1),
        answer(ALLOW),
        answer(ERROR | EPERM),
    ]
}

/// Where the kernel puts what is known of a call.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;

/// The lower half of an argument, which is all that the kernel takes of these; both architectures are little-endian.
const fn argument(at: u32) -> u32 {
    16 + 8 * at
}

/// What the kernel does with a call.
const ALLOW: u32 = 0x7fff_0000;
const ERROR: u32 = 0x0005_0000;

/// Comparisons with a number.
const EQUAL: u16 = 0x15;
const AT_LEAST: u16 = 0x35;

const fn load(offset: u32) -> sock_filter {
    statement(0x20, 0, 0, offset)
}

const fn answer(what: u32) -> sock_filter {
    statement(0x06, 0, 0, what)
}

/// Passes over so many statements if it is so, and over so many if not.
const fn jump_if(comparison: u16, number: u32, so: u8, not: u8) -> sock_filter {
    statement(comparison, so, not, number)
}

const fn statement(code: u16, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel would answer to a call.
    fn answer_to(architecture: u32, number: u32, arguments: [u32; 2]) -> u32 {
        let (program, mut at, mut loaded) = (program(), 0, 0);
        loop {
            let statement = &program[at];
            at += 1;
            let skip = |is_so: bool| usize::from(if is_so { statement.jt } else { statement.jf });
            match statement.code {
                0x20 => {
                    loaded = match statement.k {
                        NUMBER => number,
                        ARCHITECTURE => architecture,
                        16 => arguments[0],
                        24 => arguments[1],
                        other => panic!("{other}"),
                    }
                }
                EQUAL => at += skip(loaded == statement.k),
                AT_LEAST => at += skip(loaded >= statement.k),
                _ => return statement.k,
            }
        }
    }

    #[test]
    fn limits_and_priorities_of_others_typing_and_the_list_are_refused_and_all_else_is_not() {
        for calls in &CALLS {
            let answer = |number, arguments| answer_to(calls.architecture, number, arguments);
            let refused = ERROR | EPERM;
            assert_eq!(answer(calls.prlimit64, [0, 1]), ALLOW);
            assert_eq!(answer(calls.prlimit64, [4711, 1]), refused);
            assert_eq!(answer(calls.ioctl, [1, 0x5401]), ALLOW);
            for typing in [TIOCSTI, TIOCLINUX] {
                assert_eq!(answer(calls.ioctl, [1, typing]), refused);
            }
            for (call, process) in [
                (calls.setpriority, PRIO_PROCESS),
                (calls.ioprio_set, IOPRIO_WHO_PROCESS),
            ] {
                let (group, user) = (process + 1, process + 2);
                for own in [[process, 0], [process, 4711], [group, 0]] {
                    assert_eq!(answer(call, own), ALLOW);
                }
                for others in [[group, 4711], [user, 0], [user, 1000]] {
                    assert_eq!(answer(call, others), refused);
                }
            }
            for number in 0..600 {
                let with_arguments = [
                    calls.prlimit64,
                    calls.ioctl,
                    calls.setpriority,
                    calls.ioprio_set,
                ];
                let is_special = with_arguments.contains(&number);
                let is_refused = calls.refused.contains(&number);
                let wanted = if is_refused { refused } else { ALLOW };
                assert!(is_special || answer(number, [0, 0]) == wanted, "{number}");
            }
            if let Some(other) = calls.other_table {
                assert_eq!(answer(other + 310, [0, 0]), ERROR | ENOSYS);
            }
        }
        assert_eq!(answer_to(7, 310, [0, 0]), ALLOW);
    }
}
