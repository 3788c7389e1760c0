//! Shapes of plans that are common in public repositories.

use crate::check;

#[test]
fn an_ending_alone_is_no_file() {
    check(
        "- [ ] 1.1 Read `.md` and `.env`\n- [ ] 1.2 Write `.md`\n",
        "1.1 [ ] Read .md and .env @ .env\n1.2 [ ] Write .md",
    );
}
