//! Files are short enough to be read whole; `too-many-lines-threshold` of `clippy.toml` says the same of functions.

use std::path::Path;

/// Lines of a file.
const MOST: usize = 400;

/// The source files of a folder that have more lines, with how many they have.
fn longer(root: &Path, folder: &Path, most: usize) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(longer(root, &path, most));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let lines = std::fs::read_to_string(&path).unwrap().lines().count();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            found.extend((lines > most).then_some((name, lines)));
        }
    }
    found
}

#[test]
fn a_file_has_at_most_four_hundred_lines() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["src", "tests", "benches"];
    let found: Vec<_> =
        folders.iter().flat_map(|folder| longer(root, &root.join(folder), MOST)).collect();
    assert!(found.is_empty(), "split these files by idea: {found:?}");
}

/// The control run: this file has more lines than ten.
#[test]
fn a_longer_file_is_found() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found = longer(root, &root.join("tests"), 10);
    assert!(found.iter().any(|(name, lines)| name == "tests/it/sizes.rs" && *lines > 10));
}
