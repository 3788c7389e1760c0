//! Records a real run at a terminal as an animated picture: `record PROGRAM FILE.svg`.
//!
//! Knows what is typed and when something is worth a picture; nothing of how the program draws.

#![expect(
    clippy::unwrap_used,
    reason = "whoever draws the guide sees what is wrong"
)]

use std::fmt::Write as _;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use pleach_testkit::{Span, Terminal, TestRepo};

const COLUMNS: u16 = 84;
const ROWS: u16 = 25;
/// How often a run is looked at.
const LOOK: Duration = Duration::from_millis(700);
/// How long a picture stands, in seconds.
const STANDS: f64 = 1.1;
const CELL: (f64, f64) = (8.4, 18.0);
const MARGIN: f64 = 14.0;

const PLAN: &str = "\
## Phase 1: Ground
- [x] 1.1 Clear the ground
- [ ] 1.2 Dig the foundation in `ground.md`
- [ ] 1.3 Lay the drains in `ground.md`
- [ ] 1.4 Order the glass

## Phase 2: Walls
- [ ] 2.1 Raise the frame (depends: 1.2)
- [ ] 2.2 Write the opening hours (depends: 1.4)
";

const SETTINGS: &str = "\
validate = \"sh check.sh\"
land = \"none\"
[agents.gardener]
command = [\"gardener\", \"{{prompt_file}}\"]
";

/// An agent that takes between one and two seconds for a task.
const GARDENER: &str = "\
#!/bin/sh
sleep \"1.$((${PLEACH_TASK#*.} * 2))\"
echo done > \"$(echo \"$PLEACH_TASK\" | tr . -).md\"
";

fn main() {
    let mut words = std::env::args_os().skip(1);
    let program = words.next().expect("record PROGRAM FILE.svg");
    let file = words.next().expect("record PROGRAM FILE.svg");
    let program = Path::new(&program).canonicalize().unwrap();
    let frames = record(&program);
    std::fs::write(file, picture(&frames)).unwrap();
}

/// What is on the screen, whenever that is worth a picture.
fn record(program: &Path) -> Vec<Vec<Vec<Span>>> {
    let repo = TestRepo::new();
    repo.write("TODO.md", PLAN);
    repo.write("pleach.toml", SETTINGS);
    repo.write("check.sh", "sleep 1\n");
    repo.commit("a plan");
    let tools = repo.beside("tools");
    std::fs::create_dir(&tools).unwrap();
    std::fs::write(tools.join("gardener"), GARDENER).unwrap();
    let executable = Permissions::from_mode(0o755);
    std::fs::set_permissions(tools.join("gardener"), executable).unwrap();
    let path = std::env::var("PATH").unwrap();
    let mut run = Command::new(program);
    run.arg("run").current_dir(repo.path());
    run.env("PATH", format!("{}:{path}", tools.display()));
    run.env("HOME", repo.beside("home"));
    run.env("TERM", "xterm-256color");
    let mut terminal = Terminal::spawn(&run, COLUMNS, ROWS);
    let mut frames = Vec::new();
    terminal.wait_for("0 of 5 ticked");
    frames.push(terminal.spans());
    for (key, seen) in [("G ", "2 of 5 ticked"), ("a", "5 of 5 ticked")] {
        terminal.type_in(key);
        terminal.wait_for(seen);
        frames.push(terminal.spans());
    }
    terminal.type_in("\r");
    terminal.wait_for("Consent and run? [y/N]");
    frames.push(terminal.spans());
    terminal.type_in("y\r");
    terminal.wait_for("Batch 1");
    let mut next = Instant::now() + LOOK / 2;
    while !terminal.screen().contains("take it") {
        terminal.listen(next.saturating_duration_since(Instant::now()));
        if Instant::now() >= next {
            frames.push(terminal.spans());
            next += LOOK;
        }
    }
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    frames.push(terminal.spans());
    frames.dedup();
    frames
}

fn picture(frames: &[Vec<Vec<Span>>]) -> String {
    let (wide, high) = CELL;
    let width = f64::from(COLUMNS) * wide + 2.0 * MARGIN;
    let height = f64::from(ROWS) * high + 2.0 * MARGIN;
    #[expect(clippy::cast_precision_loss, reason = "there are a few pictures")]
    let count = frames.len() as f64;
    // The last one stands longer.
    let all = STANDS * (count + 3.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         role=\"img\" aria-label=\"A run at a terminal\">\n<style>\n\
         text{{font:14px ui-monospace,Menlo,Consolas,monospace;fill:#d8dee9;white-space:pre}}\n\
         .b{{font-weight:700}}.d{{opacity:.6}}\n\
         .c1{{fill:#e06c75}}.c2{{fill:#98c379}}.c3{{fill:#e5c07b}}.c6{{fill:#56b6c2}}\n\
         g{{visibility:hidden;animation:{all:.1}s step-end infinite}}\n"
    );
    for number in 0..frames.len() {
        #[expect(clippy::cast_precision_loss, reason = "there are a few pictures")]
        let from = number as f64 * STANDS / all * 100.0;
        let is_last = number + 1 == frames.len();
        let until = if is_last {
            100.0
        } else {
            from + STANDS / all * 100.0
        };
        let _ = write!(svg, "@keyframes f{number}{{0%{{visibility:hidden}}");
        let _ = write!(svg, "{from:.2}%{{visibility:visible}}");
        let _ = writeln!(svg, "{until:.2}%{{visibility:hidden}}}}");
        let _ = writeln!(svg, "#f{number}{{animation-name:f{number}}}");
    }
    // Whoever wants nothing to move sees how it ends.
    let last = frames.len() - 1;
    let _ = writeln!(
        svg,
        "@media (prefers-reduced-motion){{g{{animation:none!important}}#f{last}{{visibility:visible}}}}\n</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1e222a\"/>"
    );
    for (number, rows) in frames.iter().enumerate() {
        let _ = writeln!(svg, "<g id=\"f{number}\">");
        for (row, spans) in (0_u16..).zip(rows) {
            for span in spans {
                draw(span, row, &mut svg);
            }
        }
        svg.push_str("</g>\n");
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw(span: &Span, row: u16, svg: &mut String) {
    let text = span.text.trim_end();
    if text.is_empty() {
        return;
    }
    let behind = span.text.len() - text.len();
    let behind = u16::try_from(behind).unwrap_or(0);
    let columns = f64::from(span.columns.saturating_sub(behind));
    let x = MARGIN + f64::from(span.column) * CELL.0;
    let y = MARGIN + (f64::from(row) + 0.75) * CELL.1;
    let mut classes = Vec::new();
    if span.bold {
        classes.push("b".to_owned());
    }
    if span.dim {
        classes.push("d".to_owned());
    }
    classes.extend(span.colour.map(|colour| format!("c{colour}")));
    let class = match classes.join(" ") {
        none if none.is_empty() => String::new(),
        some => format!(" class=\"{some}\""),
    };
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    let length = columns * CELL.0;
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{length:.1}\"{class}>{text}</text>"
    );
}
