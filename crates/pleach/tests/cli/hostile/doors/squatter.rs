//! An agent that waits at the port of the server for whoever comes.

use serde_json::Value;

use super::sandboxed;
use crate::pleach;
use crate::serving::Serving;

/// Listens like Pleach, says at which port, and writes down all that it is told.
///
/// What it cannot answer by itself it has answered by the real server, whose port is in `BESIDE/out/real`.
const SQUAT: &str = r#"cat > squat.py <<'END'
import http.server, os, socketserver, urllib.request
heard = open("BESIDE/out/heard", "a")
real = "BESIDE/out/real"
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def any(self):
        print(self.requestline, dict(self.headers), file=heard, flush=True)
        status, body = 200, b'{"status":"ok","version":"0.1.0","path":"/#enter=0","proof":"00"}'
        if os.path.exists(real) and self.path != "/health":
            port = open(real).read()
            asked = urllib.request.Request("http://127.0.0.1:%s%s" % (port, self.path), method=self.command)
            try:
                answer = urllib.request.urlopen(asked)
                status, body = answer.status, answer.read()
            except urllib.error.HTTPError as error:
                status, body = error.code, error.read()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_GET = do_POST = any
    def log_message(self, *words): pass
class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
server = Server(("127.0.0.1", 0), Handler)
open("BESIDE/out/port", "w").write(str(server.server_port))
import threading
threading.Thread(target=server.serve_forever, daemon=True).start()
open("BESIDE/arrived", "w").write("1\n")
open("BESIDE/gate").readline()
END
python3 squat.py; rm squat.py; echo x > done"#;

#[test]
fn a_listener_that_does_not_know_the_token_is_never_shown_it() {
    let (scene, mut gate) = sandboxed("1", "landlock", SQUAT);
    let running = scene.start(&[]);
    gate.wait_for(1);
    let port = scene.trace("out/port");
    let serve = |more: &[&str]| {
        let words = [&["serve", "--port", &port], more].concat();
        pleach(scene.repo.path(), &scene.home(), &words)
    };
    let refused = serve(&[]).bad(3);
    assert!(refused.contains("--port"), "{refused}");
    assert!(!refused.contains("#enter="), "{refused}");
    let token = std::fs::read_to_string(scene.state().join("token")).unwrap();
    let heard = scene.trace("out/heard");
    assert!(
        !heard.is_empty() && !heard.contains(token.trim()),
        "{heard}"
    );

    // One that passes the question on to the real server is no better.
    let real = Serving::of(&scene, &[]);
    let real_port = real.address.port().to_string();
    std::fs::write(scene.repo.beside("out/real"), real_port).unwrap();
    serve(&[]).bad(3);
    assert!(!scene.trace("out/heard").contains(token.trim()));
    let port = real.address.port().to_string();
    let second = pleach(
        scene.repo.path(),
        &scene.home(),
        &["serve", "--json", "--port", &port],
    );
    let said: Value = serde_json::from_str(&second.good()).unwrap();
    assert_eq!(said["wasThere"], true, "the real one gives a link");
    gate.let_go(1);
    running.story().check(0, "1:merged");
}
