//! A connection between a process and its database that a test can interrupt: bytes are held and
//! arrive late.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Passes on all connections to a port.
pub(super) struct Cut {
    port: u16,
    holds: Arc<AtomicBool>,
    /// The ports of the connections that it opened.
    used: Arc<Mutex<Vec<u16>>>,
}

impl Cut {
    pub(super) fn before(target: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let holds = Arc::new(AtomicBool::new(false));
        let held = Arc::clone(&holds);
        let used = Arc::<Mutex<Vec<u16>>>::default();
        let ports = Arc::clone(&used);
        std::thread::spawn(move || {
            for here in listener.incoming() {
                let Ok(here) = here else { return };
                let Ok(there) = TcpStream::connect(("127.0.0.1", target)) else { continue };
                ports.lock().unwrap().push(there.local_addr().unwrap().port());
                for (from, to) in [(&here, &there), (&there, &here)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let held = Arc::clone(&held);
                    std::thread::spawn(move || pump(from, to, &held));
                }
            }
        });
        Self { port, holds, used }
    }

    pub(super) const fn port(&self) -> u16 {
        self.port
    }

    /// The ports under which the database knows its connections.
    pub(super) fn used(&self) -> Vec<u16> {
        self.used.lock().unwrap().clone()
    }

    /// Holds all bytes, or lets them through again.
    pub(super) fn hold(&self, holds: bool) {
        self.holds.store(holds, Ordering::SeqCst);
    }
}

fn pump(mut from: TcpStream, mut to: TcpStream, holds: &AtomicBool) {
    let mut bytes = [0; 16_384];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        while holds.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(5));
        }
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}
