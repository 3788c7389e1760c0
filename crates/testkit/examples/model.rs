//! Serves the stand-in for a model in the foreground, to try agents by hand: `model [FOLDER]`.
//!
//! Prints its address; with a folder, each request is kept there as a file.

#![expect(
    clippy::print_stdout,
    reason = "people want to see the address and what is asked"
)]

use std::path::PathBuf;
use std::time::Duration;

use pleach_testkit::ModelStub;

fn main() -> std::io::Result<()> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let stub = ModelStub::start();
    println!("{}", stub.base(""));
    for count in 0.. {
        let seen = loop {
            if let Some(seen) = stub.requests().into_iter().nth(count) {
                break seen;
            }
            std::thread::sleep(Duration::from_millis(100));
        };
        println!("{count:4} {} {}", seen.id, seen.path);
        if let Some(folder) = &folder {
            let file = folder.join(format!("{count:04}-{}.json", seen.id));
            std::fs::write(file, format!("{:#}", seen.body))?;
        }
    }
    Ok(())
}
