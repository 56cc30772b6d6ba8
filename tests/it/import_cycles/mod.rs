//! Import cycles: at most three files of `src` may import one another in a cycle.
//!
//! A file of a large cycle cannot be understood, tested or compiled without the others. `mod child;` and re-exports
//! (`pub use`) do not count. An import through a re-export counts for the file that defines the name. A file of the
//! model that uses another resource only as `Id<Resource>` does not import it: resources name one another by id.

mod graph;
mod source;

use std::collections::BTreeSet;
use std::path::Path;

use crate::layers::sources;

use self::graph::{Graph, cycles, explain, graph};

/// Files that may import one another in a cycle.
const MOST: usize = 3;

/// The imports between the files of `src`.
fn imports() -> Graph {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let read = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned(), text)
    };
    let files: Vec<(String, String)> = sources(&root).into_iter().map(read).collect();
    let graph = graph(&files);
    assert!(graph.len() > 300, "only {} files with imports were found", graph.len());
    graph
}

#[test]
fn at_most_three_files_import_one_another_in_a_cycle() {
    let graph = imports();
    let found = cycles(&graph);
    let large: Vec<String> = (found.iter())
        .filter(|group| group.len() > MOST)
        .map(|group| explain(&graph, group))
        .collect();
    assert!(large.is_empty(), "{}", large.join("\n\n"));
}

/// The registry names the type of every resource in the rows of a macro, which the graph does not contain.
#[test]
fn no_file_of_the_model_imports_the_registry() {
    let imports = imports();
    let registry = "model/registry.rs";
    let importers = imports.iter().filter(|(_, targets)| targets.contains_key(registry));
    let (model, others): (Vec<_>, Vec<_>) =
        importers.map(|(file, _)| file).partition(|file| file.starts_with("model/"));
    assert!(model.is_empty(), "these files must not import {registry}: {model:?}");
    assert!(!others.is_empty(), "world imports {registry}");
}

/// The imports between files of a fictitious crate, as `file -> file`.
fn edges(files: &[(&str, &str)]) -> Vec<String> {
    let owned: Vec<_> = files.iter().map(|(file, text)| ((*file).into(), (*text).into())).collect();
    let mut found = Vec::new();
    for (file, targets) in graph(&owned) {
        found.extend(targets.keys().map(|target| format!("{file} -> {target}")));
    }
    found
}

/// The control run: a cycle of four files is found, with each way to write an import; nothing else is.
#[test]
fn a_cycle_of_four_files_is_found() {
    let files = [
        ("lib.rs", "mod a; mod b; mod c;"),
        ("a.rs", "use crate::{b::{self, One}, c}; fn f() -> One { b::two() } struct A;"),
        ("b/mod.rs", "mod inner; pub(crate) use inner::One; fn two() { crate::c::deep::three() }"),
        ("b/inner.rs", "use crate::d::*; pub struct One(Four); pub fn four() {}"),
        ("d.rs", "pub(crate) use crate::e::Four;"),
        ("e.rs", "pub struct Four;"),
        ("c/mod.rs", "mod deep; use deep::three as other; fn five() {}"),
        ("c/deep.rs", "fn three() { super::super::a::A; super::five() }"),
    ];
    assert_eq!(
        edges(&files),
        [
            "a.rs -> b/inner.rs",
            "a.rs -> b/mod.rs",
            "b/inner.rs -> e.rs",
            "b/mod.rs -> c/deep.rs",
            "c/deep.rs -> a.rs",
            "c/deep.rs -> c/mod.rs",
            "c/mod.rs -> c/deep.rs",
        ]
    );
    let owned: Vec<_> = files.iter().map(|(file, text)| ((*file).into(), (*text).into())).collect();
    let cycle = ["a.rs", "b/mod.rs", "c/deep.rs", "c/mod.rs"].map(str::to_owned);
    let found = cycles(&graph(&owned));
    assert_eq!(found, [BTreeSet::from(cycle)]);
    assert!(found[0].len() > MOST);
}

/// The control run for code that does not count as an import.
#[test]
fn tests_comments_strings_and_ids_of_resources_are_no_imports() {
    let files = [
        ("lib.rs", ""),
        ("model/mod.rs", "mod company; mod wallet;"),
        (
            "one.rs",
            "// crate::two::b()\n/// [`crate::two::b`]\n#[cfg(test)]\nmod tests { use crate::two::b; }",
        ),
        (
            "two.rs",
            "fn b<'a>(c: char) { r#\"crate::one\"#; \"\\\"crate::three::d()\"; '\"'; '\\''; }",
        ),
        ("three.rs", "#[cfg(test)] use crate::two::b; fn d() { crate::two::b::<'static>('a') }"),
        (
            "model/company.rs",
            "use crate::model::wallet::Wallet; struct Company { wallet: Id<Wallet> }",
        ),
        (
            "model/wallet.rs",
            "use crate::model::company::Company; fn of(id: Id<Company>, of: &Company) {} struct Wallet;",
        ),
    ];
    assert_eq!(edges(&files), ["model/wallet.rs -> model/company.rs", "three.rs -> two.rs",]);
}
