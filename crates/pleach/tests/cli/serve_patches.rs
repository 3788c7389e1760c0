//! Patches without what differs only in white space, over HTTP and in the terminal.

use serde_json::json;

use crate::pleach;
use crate::scene::Scene;
use crate::serving::Serving;

#[test]
fn lines_that_differ_only_in_white_space_are_the_same_where_that_is_wanted() {
    let shell = r"printf 'if a\n\tb\nc\n' > code; printf '\tx\n' > moved";
    let scene = Scene::of("1", "land = \"none\"", shell);
    scene.repo.write("code", "if a\nb\n");
    scene.repo.write("moved", "x\n");
    scene.repo.commit("begin");
    scene.run(&[]).good();
    let server = Serving::of(&scene, &[]);
    let file = |path, added, removed| json!({"path": path, "added": added, "removed": removed});
    for path in ["/api/batches/1/diff", "/api/batches/1/tasks/1/diff"] {
        let files = |query| server.get(&format!("{path}{query}")).good(200)["files"].clone();
        assert_eq!(files(""), json!([file("code", 2, 1), file("moved", 1, 1)]));
        assert_eq!(files("?whitespace=show"), files(""));
        assert_eq!(files("?whitespace=ignore"), json!([file("code", 1, 0)]));
        let half = server.get(&format!("{path}?whitespace=half"));
        assert_eq!(half.bad(400), "bad_query");
    }
    let words = ["diff", "1", "1", "-w"];
    let patch = pleach(scene.repo.path(), &scene.home(), &words).good();
    assert!(patch.contains("+c") && !patch.contains("+\tb"), "{patch}");
    assert!(!patch.contains("moved"), "{patch}");
}
