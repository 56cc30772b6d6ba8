//! Files that only their owner may read: recordings, bundles and write-ahead logs, which contain data of
//! callers.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Creates a folder, if it does not exist, with mode 0700.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    let mut folder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
    folder.recursive(true).create(path)
}

/// Opens a file. A new or existing file gets mode 0600.
pub(crate) fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::fs::Permissions;
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        let file = options.mode(0o600).open(path)?;
        let known = file.metadata()?;
        // A device such as /dev/stdout keeps its mode.
        if known.is_file() && known.permissions().mode() & 0o077 != 0 {
            file.set_permissions(Permissions::from_mode(0o600))?;
        }
        Ok(file)
    }
    #[cfg(not(unix))]
    options.open(path)
}

/// Writes the content of an empty file. If that fails, no incomplete file remains.
pub(crate) fn fill(
    file: File,
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::new(&file);
    let written = write(&mut out).and_then(|()| out.flush());
    drop(out); // after an error, it tries to write the rest
    if written.is_err() {
        file.set_len(0).ok(); // a device has no length
        // A link such as /dev/stdout is not removed.
        if fs::symlink_metadata(path).is_ok_and(|known| known.is_file()) {
            fs::remove_file(path).ok();
        }
    }
    written
}
