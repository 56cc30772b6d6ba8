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

/// Lines of these files of `clients/`; a folder counts with its own files.
fn lines_of_client(paths: &[&str]) -> usize {
    let clients = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients");
    let lines = |path: &Path| std::fs::read_to_string(path).unwrap().lines().count();
    let count = |path: &&str| {
        let path = clients.join(path);
        if !path.is_dir() {
            return lines(&path);
        }
        let files = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|file| file.is_file()).map(|file| lines(&file)).sum()
    };
    paths.iter().map(count).sum()
}

#[test]
fn the_page_about_clients_says_how_long_they_are() {
    const JAVA: &str = "java/src/main/java/financesandbox";
    let page = include_str!("../../docs/clients.md");
    let row = |language: &str, client: usize, more: &str, kit: usize| {
        let row = format!("| {language} | {client}{more} | {kit} | ");
        assert!(page.contains(&row), "docs/clients.md has no row that begins with {row:?}");
    };
    let ruby = "ruby/lib/finance_sandbox";
    row(
        "JavaScript, TypeScript",
        lines_of_client(&["javascript/client.js"]),
        "",
        lines_of_client(&["javascript/kit.js", "javascript/program.js"]),
    );
    let python = "python/src/finance_sandbox";
    row(
        "Python",
        lines_of_client(&[&format!("{python}/client.py"), &format!("{python}/webhook.py")]),
        "",
        lines_of_client(&[&format!("{python}/kit.py"), &format!("{python}/pytest_plugin.py")]),
    );
    let tests = lines_of_client(&["go/sandboxtest/twelve_steps_test.go"]);
    row(
        "Go",
        lines_of_client(&["go/client.go", "go/reply.go", "go/webhook.go"]),
        "",
        lines_of_client(&["go/sandboxtest"]) - tests,
    );
    row("Ruby", lines_of_client(&[&format!("{ruby}.rb")]), "", lines_of_client(&[ruby]));
    row("PHP", lines_of_client(&["php/src"]), "", lines_of_client(&["php/src/Testing"]));
    let json = format!(", of which JSON {}", lines_of_client(&[&format!("{JAVA}/Json.java")]));
    row("Java", lines_of_client(&[JAVA]), &json, lines_of_client(&[&format!("{JAVA}/testing")]));
}
