//! The command of the app, in its own process group with a time limit.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The end of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum End {
    Code(i32),
    /// By a signal.
    Killed,
    /// It ran longer than allowed.
    TimedOut,
}

impl End {
    /// The exit code; none if it did not end by itself.
    pub(in crate::cli) const fn code(self) -> Option<i32> {
        match self {
            Self::Code(code) => Some(code),
            Self::Killed | Self::TimedOut => None,
        }
    }
}

/// The interval of the check for the end of the command.
const LOOK: Duration = Duration::from_millis(1);

/// The running process groups. A command does not get the Ctrl-C of the terminal, because its group is not in the
/// foreground.
static RUNNING: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// Runs the command to its end, with its output in the file.
pub(in crate::cli) fn run(
    command: &[String],
    environment: &[(&str, String)],
    limit: Duration,
    printed: &Path,
) -> io::Result<End> {
    let (program, arguments) = command.split_first().expect("the command line has a command");
    let out = File::options().create(true).append(true).open(printed)?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stderr(out.try_clone()?).stdout(out);
    for (name, value) in environment {
        command.env(name, value);
    }
    alone(&mut command);
    let mut child = command.spawn()?;
    let group = child.id();
    running().push(group);
    let ended = wait(&mut child, limit);
    end_group(group);
    running().retain(|running| *running != group);
    if let Some(status) = ended? {
        return Ok(status.code().map_or(End::Killed, End::Code));
    }
    // On a system without groups this ends the command itself.
    let _ = child.kill();
    child.wait()?;
    Ok(End::TimedOut)
}

fn running() -> std::sync::MutexGuard<'static, Vec<u32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// None if the limit is reached first.
fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if started.elapsed() >= limit {
            return Ok(None);
        }
        std::thread::sleep(LOOK);
    }
}

#[cfg(unix)]
fn alone(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    command.process_group(0);
}

/// Ends the processes that the command has left running.
#[cfg(unix)]
fn end_group(group: u32) {
    let group = i32::try_from(group).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(group) = group {
        // An error means that the group is empty.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

#[cfg(not(unix))]
fn alone(_: &mut Command) {}

#[cfg(not(unix))]
fn end_group(_: u32) {}

/// Ends the running commands, and calls the function, when this process is told to end.
pub(super) fn end_with_us(before_exit: fn()) {
    let listening = || -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            runtime.block_on(async {
                let Ok(mut signals) = crate::io::signal::Signals::listen() else { return };
                let number = signals.next().await;
                running().drain(..).for_each(end_group);
                before_exit();
                // A command can have started since.
                running().drain(..).for_each(end_group);
                std::process::exit(128 + number);
            });
        })?;
        Ok(())
    };
    // Without the thread, Ctrl-C still ends this process.
    let _ = listening();
}
