//! `--port-file`: the file that tells a script the port of a server.

use std::fs;
use std::path::Path;

use crate::cli::failure::Failure;

/// Deletes the file of an earlier server, so that a script which waits for the file does not read the earlier port. A pipe or
/// device is kept.
pub(super) fn clear(file: &Path) {
    if fs::symlink_metadata(file).is_ok_and(|file| file.is_file()) {
        // If this fails, the later write reports it.
        let _ = fs::remove_file(file);
    }
}

pub(super) fn write(file: &Path, port: u16) -> Result<(), Failure> {
    fs::write(file, format!("{port}\n"))
        .map_err(|error| Failure::Impossible(format!("cannot write {}: {error}", file.display())))
}
