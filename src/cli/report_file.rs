//! The file of a report, which is written at the end of long work.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::cli::failure::Failure;

/// A file that can be written.
pub(super) struct ReportFile(PathBuf);

impl ReportFile {
    /// Refuses a path that cannot be written, before the work begins. Until the report is written, an earlier one stays, and no new file is there.
    pub(super) fn check(flag: &str, path: &Path) -> Result<Self, Failure> {
        let refuse = |why: &dyn std::fmt::Display| {
            Failure::Usage(format!("cannot write {flag} {}: {why}", path.display()))
        };
        if path.as_os_str() == "-" {
            return Err(refuse(&"expected the name of a file"));
        }
        match File::create_new(path) {
            Ok(_) => fs::remove_file(path).map_err(|error| refuse(&error))?,
            // To open a pipe would wait for its reader, or end it.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                if path.is_file() || path.is_dir() {
                    File::options().append(true).open(path).map_err(|error| refuse(&error))?;
                }
            }
            Err(error) => return Err(refuse(&error)),
        }
        Ok(Self(path.to_owned()))
    }

    pub(super) fn write(&self, text: &str) -> Result<(), Failure> {
        fs::write(&self.0, text).map_err(|error| {
            Failure::Impossible(format!("cannot write {}: {error}", self.0.display()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_earlier_report_stays_until_the_new_one_is_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let [new, old] = ["new", "old"].map(|name| folder.path().join(name));
        fs::write(&old, "an earlier report").expect("a file");
        let files = [&new, &old].map(|path| ReportFile::check("--json", path).expect("a file"));
        assert!(!new.exists());
        assert_eq!(fs::read_to_string(&old).expect("a file"), "an earlier report");
        for file in files {
            file.write("short").expect("it is written");
        }
        assert_eq!([new, old].map(|path| fs::read_to_string(path).expect("a file")), ["short"; 2]);
    }

    #[test]
    fn a_path_that_is_no_file_is_refused_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        for path in [folder.path(), &folder.path().join("no/file"), Path::new("-")] {
            let refused = ReportFile::check("--junit", path);
            assert!(matches!(refused, Err(Failure::Usage(_))), "{}", path.display());
        }
    }
}
