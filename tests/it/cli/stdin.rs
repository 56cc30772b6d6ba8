//! `--exit-with-stdin`: a server ends when the program that started it ends, for any reason.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::harness::http::read_answer;
use crate::harness::{Server, command};

#[test]
fn a_command_that_serves_ends_with_its_standard_input() {
    for arguments in [&["--port", "0", "--quiet"][..], &["listen"], &["serve", "--port", "0"]] {
        let mut child = command(arguments)
            .arg("--exit-with-stdin")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut ready = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut ready).unwrap();
        assert!(ready.starts_with("listening on "), "{ready}");
        let mut input = child.stdin.take().unwrap();
        input.write_all(b"text is read and has no meaning\n").unwrap();
        assert!(child.try_wait().unwrap().is_none(), "open input: {arguments:?} continues");
        drop(input);
        assert_eq!(child.wait().unwrap().code(), Some(0), "{arguments:?}");
    }
}

#[test]
fn a_killed_test_run_leaves_no_server() {
    const RUN_TO_KILL: &str = "TEST_RUN_TO_KILL";
    if std::env::var_os(RUN_TO_KILL).is_some() {
        let server = Server::start(&[]);
        println!("port {}", server.port());
        loop {
            std::thread::park();
        }
    }
    let mut run = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", "cli::stdin::a_killed_test_run_leaves_no_server"])
        .env(RUN_TO_KILL, "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(run.stdout.take().unwrap()).lines();
    let port = lines.find_map(|line| Some(line.unwrap().rsplit_once("port ")?.1.to_owned()));
    let port: u16 = port.expect("the run starts a server").parse().unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(b"GET /_sandbox/health HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    assert_eq!(read_answer(&mut stream, false).unwrap().status, 200);
    run.kill().unwrap();
    run.wait().unwrap();
    assert_eq!(stream.read(&mut [0]).unwrap(), 0, "the server closes the connection");
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err(), "and does not listen any more");
}
