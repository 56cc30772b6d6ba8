//! A writer that keeps free space for the log, whose inputs are on the same disk.

use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// Writes at most half of the free space: each write needs as much free space after it as was written until then.
pub(super) struct Spare<W, F> {
    out: W,
    written: u64,
    free: F,
}

impl<W: Write, F: Fn() -> Option<u64>> Spare<W, F> {
    /// `free` returns the free bytes of the disk, if they are known.
    pub(super) const fn new(out: W, free: F) -> Self {
        Self { out, written: 0, free }
    }

    pub(super) fn into_inner(self) -> W {
        self.out
    }
}

impl<W: Write, F: Fn() -> Option<u64>> Write for Spare<W, F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let size = bytes.len() as u64;
        if (self.free)().is_some_and(|free| free < self.written + 2 * size) {
            let why = "it needs more than half of the free space, and the log needs the rest";
            return Err(io::Error::new(ErrorKind::StorageFull, why));
        }
        let written = self.out.write(bytes)?;
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The free bytes of the disk of a file, for a user without privileges.
pub(super) fn free_bytes(path: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let disk = rustix::fs::statvfs(path).ok().filter(|disk| disk.f_blocks > 0)?;
        disk.f_bavail.checked_mul(disk.f_frsize)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;

    /// A disk with this many free bytes.
    #[derive(Clone)]
    struct Disk(Rc<RefCell<usize>>);

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut free = self.0.borrow_mut();
            *free = free.checked_sub(bytes.len()).ok_or(ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn half_of_the_free_space_stays_free() {
        for (free, size) in [(1_000, 10), (1_001, 7), (15, 10), (0, 1)] {
            let disk = Disk(Rc::new(RefCell::new(free)));
            let (known, unknown) = (disk.clone(), disk.clone());
            let mut spare = Spare::new(disk.clone(), move || u64::try_from(*known.0.borrow()).ok());
            let mut written = 0;
            let refusal = loop {
                match spare.write_all(&vec![0; size]) {
                    Ok(()) => written += size,
                    Err(error) => break error,
                }
            };
            assert_eq!(refusal.kind(), ErrorKind::StorageFull);
            assert_eq!(*disk.0.borrow(), free - written);
            assert!(written <= free / 2 && written + size > free / 2, "{written} of {free}");
            // A disk that does not state its free space is written until it is full.
            let mut spare = Spare::new(unknown, || None);
            while spare.write_all(&[0]).is_ok() {}
            assert_eq!(*disk.0.borrow(), 0);
        }
    }

    #[test]
    fn the_disk_of_a_file_states_its_free_space() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        assert_eq!(free_bytes(file.path()).is_some(), cfg!(unix));
        assert_eq!(free_bytes(&file.path().join("absent")), None);
    }
}
