//! Files that the program reads: scenarios, contracts and recordings.

use std::fs::{File, metadata};
use std::path::Path;

/// Opens a regular file. A pipe or a device might never end, so it is refused before it is opened.
///
/// # Errors
/// Why it cannot be read; the caller adds the path.
pub(crate) fn open(path: &Path) -> Result<File, String> {
    let known = metadata(path).map_err(|error| error.to_string())?;
    if known.is_dir() {
        return Err("it is a folder: name a file".to_owned());
    }
    if !known.is_file() {
        return Err("it is not a regular file: write its content into one first".to_owned());
    }
    File::open(path).map_err(|error| error.to_string())
}
