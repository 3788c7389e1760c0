//! A batch without a network: nothing leaves the machine or reaches what listens on it.

use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};

use super::{CLOSED, done, python};

const WITHOUT: &str = "network = \"none\"";

/// An agent that knocks at two ports of this machine, and serves itself at another.
pub(super) fn knocking(tcp: &TcpListener, udp: &UdpSocket) -> String {
    let port = |address: std::net::SocketAddr| address.port();
    let (tcp, udp) = (
        port(tcp.local_addr().unwrap()),
        port(udp.local_addr().unwrap()),
    );
    format!(
        "def served():
    server = socket.create_server(('127.0.0.1', 0))
    client = socket.create_connection(server.getsockname(), 5)
    server.accept()[0].send(b'x')
    client.recv(1)
attempt('tcp', lambda: socket.create_connection(('127.0.0.1', {tcp}), 5).close())
attempt('udp', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {udp})))
attempt('own', served)"
    )
}

pub(super) fn listeners() -> (TcpListener, UdpSocket) {
    let (tcp, udp) = (
        TcpListener::bind("127.0.0.1:0"),
        UdpSocket::bind("127.0.0.1:0"),
    );
    let (tcp, udp) = (tcp.unwrap(), udp.unwrap());
    tcp.set_nonblocking(true).unwrap();
    udp.set_nonblocking(true).unwrap();
    (tcp, udp)
}

/// Checks that nobody knocked.
#[track_caller]
fn check_quiet((tcp, udp): (TcpListener, UdpSocket)) {
    assert_eq!(tcp.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_eq!(
        udp.recv(&mut [0]).unwrap_err().kind(),
        ErrorKind::WouldBlock
    );
}

#[test]
fn without_a_network_an_agent_reaches_nobody_but_itself() {
    for sandbox in [CLOSED, "retries = 0\nsandbox = \"none\""] {
        let (tcp, udp) = listeners();
        let scene = python(&format!("{sandbox}\n{WITHOUT}"), &knocking(&tcp, &udp));
        scene.story(&[]).check(0, "1:merged");
        let done = done(&scene);
        assert!(
            !done.contains("tcp done") && done.ends_with("own done"),
            "{done}"
        );
        check_quiet((tcp, udp));
    }
}

#[test]
fn with_a_network_it_does() {
    let (tcp, udp) = listeners();
    let scene = python(CLOSED, &knocking(&tcp, &udp));
    scene.story(&[]).check(0, "1:merged");
    assert_eq!(done(&scene), "tcp done, udp done, own done");
}

#[test]
fn setup_and_tests_have_none_either() {
    let (tcp, udp) = listeners();
    let port = tcp.local_addr().unwrap().port();
    let knock = format!(
        "python3 -c 'import socket; socket.create_connection((\\\"127.0.0.1\\\", {port}), 5)'"
    );
    let settings = format!("{CLOSED}\n{WITHOUT}\nsetup = \"! {knock}\"\nvalidate = \"! {knock}\"");
    let scene = crate::scene::Scene::with(&settings, super::ONE, "echo x > x");
    scene.story(&[]).check(0, "1:merged");
    check_quiet((tcp, udp));
}
