//! What a lab opens in a running sandbox and on disk, and its removal: at the end of the lab, or when a signal ends the process.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{
    Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard, Weak, mpsc,
};
use std::time::Duration;

use crate::cli::ask::SandboxArgs;

/// The longest wait for a reply to a removal.
const TIMEOUT: Duration = Duration::from_secs(2);
/// The longest wait for all removals after a signal.
const ALL_TIMEOUT: Duration = Duration::from_secs(5);

/// The lab of this process.
static LAB: Mutex<Weak<Opened>> = Mutex::new(Weak::new());
/// Each request of a lab holds it for reading. After a signal it stays locked, so that no further request is sent.
static REQUESTS: RwLock<()> = RwLock::new(());

/// The snapshot, the forks and the folder of a lab.
pub(super) struct Opened {
    /// The running sandbox and the key of the world. A sandbox in this process ends with it.
    pub(super) running: Option<(SandboxArgs, String)>,
    pub(super) snapshot: OnceLock<String>,
    forks: Mutex<BTreeSet<String>>,
    pub(super) folder: PathBuf,
}

impl Opened {
    pub(super) fn new(running: Option<(SandboxArgs, String)>, folder: PathBuf) -> Arc<Self> {
        let (snapshot, forks) = (OnceLock::new(), Mutex::default());
        let opened = Arc::new(Self { running, snapshot, forks, folder });
        *LAB.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(&opened);
        opened
    }

    /// The keys of open forks. A key is added before its fork is made.
    pub(super) fn forks(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.forks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes everything until the sandbox does not reply. The process ends, so an error changes nothing.
    fn remove(&self) {
        let _ = std::fs::remove_dir_all(&self.folder);
        let Some((sandbox, key)) = &self.running else { return };
        let is_done = |key: &str, path: &str| {
            let head = format!("Authorization: Bearer {key}\r\n");
            sandbox.ask(TIMEOUT, ("DELETE", path), &head, "").is_ok()
        };
        let mut replies =
            self.snapshot.get().is_none_or(|id| is_done(key, &format!("/_sandbox/snapshots/{id}")));
        for fork in std::mem::take(&mut *self.forks()) {
            replies = replies && is_done(&fork, "/_sandbox/world");
        }
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Held during a request of a lab.
pub(super) fn begin_request() -> RwLockReadGuard<'static, ()> {
    REQUESTS.read().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what the lab of this process has opened, before the process exits.
pub(super) fn remove_before_exit() {
    let lab = LAB.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
    let Some(lab) = lab else { return };
    let (send, removed) = mpsc::channel();
    std::thread::spawn(move || {
        // A further request would open the world of a removed fork again.
        std::mem::forget(REQUESTS.write());
        lab.remove();
        let _ = send.send(());
        std::mem::forget(lab);
    });
    let _ = removed.recv_timeout(ALL_TIMEOUT);
}
