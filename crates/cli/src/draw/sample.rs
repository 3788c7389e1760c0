//! Plans for the tests of the drawings.

use std::fmt::Write as _;

use pleach_domain::graph::{Graph, Order, OrderRules, Strictness};

use super::Picture;

/// Every kind of wait: needs, a shared file, a status, something done.
pub(super) const SECTIONS: &str = "\
### 60. Set up the crate
**Status**: [COMPLETED]

### 61. Read the plan
**Dependencies**: 60
**Effort**: 1 hour

### 62. Write the docs
**Status**: [IN PROGRESS]
**Effort**: 1 hour
**Files Affected**:
- `docs/plan.md`

### 63. Check the graph
**Dependencies**: 61
**Effort**: 3 hours

### 64. Explain the graph
**Effort**: 1 hour
**Files Affected**:
- `docs/plan.md`

### 65. Draw it
**Dependencies**: 63, 62
**Effort**: 30 min
";

/// Two phases, the second one closed and in sequence.
pub(super) const PHASED: &str = "\
## Phase 1: Ground
- [ ] 1.1 Dig
- [ ] 1.2 Level

## Phase 2: Walls
- [ ] 2.1 Lay bricks
- [ ] 2.2 Plaster

**Execution Note:** Tasks 2.1-2.2 are [SEQUENTIAL] - wet mortar
";

/// Two tasks that wait for each other, one behind them and a free one.
pub(super) const CYCLE: &str = "\
### 1. One
**Dependencies**: 2
### 2. Two
**Dependencies**: 1
### 3. Three
**Dependencies**: 2
### 4. Free
";

/// Titles that try to break out of every format.
pub(super) const NASTY: &str = r#"{"batches": [], "tasks": [
{"id": "1\"]", "title": "`quoted` \"text\" ]]></text><script>alert(1)</script> & more",
 "files": ["a\"|b.rs"]},
{"id": "2", "title": "back\\slash \\N {a|b} %% note; style x:#f00; #quot; <b>bold</b> &lt; 'x'",
 "files": ["a\"|b.rs"]},
{"id": "3", "title": "\u001b[31mred\u001b[0m bell\u0007 \u202ebackwards\nnext \uffff line",
 "depends_on": ["2"]},
{"id": "4", "title": "- 1) *list* _em_ $$x$$ fa:fa-bolt www.example.com 表示幅の検査 👩‍👩‍👧",
 "depends_on": ["3"]}
]}"#;

/// `waves` waves of `tasks` tasks, each task needing the one before it in its row.
pub(super) fn grid(waves: usize, tasks: usize) -> String {
    let mut text = String::new();
    for wave in 0..waves {
        for row in 0..tasks {
            let id = wave * tasks + row + 1;
            let _ = writeln!(text, "### {id}. Step {wave} of row {row}");
            if wave > 0 {
                let _ = writeln!(text, "**Dependencies**: {}", id - tasks);
            }
        }
    }
    text
}

/// Draws the whole of a plan, given as text.
pub(super) fn drawn<R>(text: &str, draw: impl FnOnce(&Picture<'_>) -> R) -> R {
    let document = pleach_formats::read(text);
    let graph = Graph::new(&document.plan, Strictness::AsWritten);
    let members = vec![true; document.plan.tasks.len()];
    let order = Order::new(&graph, &members, OrderRules::default());
    let chosen: Vec<usize> = (0..members.len()).collect();
    draw(&Picture {
        name: "TODO.md",
        graph: &graph,
        order: &order,
        chosen: &chosen,
    })
}
