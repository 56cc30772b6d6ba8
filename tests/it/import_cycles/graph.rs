//! The imports between files, and the cycles that they form.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{Module, modules};

/// For each file, the files it imports from, and the names it takes from each.
pub(super) type Graph = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// Maximum number of re-exports through which a name is followed; more mean a cycle.
const MOST_STEPS: usize = 20;

/// Every module of the crate by its path, with the file it is in.
struct Crate {
    modules: BTreeMap<Vec<String>, (String, Module)>,
}

/// The graph of files, given as their names below `src` and their texts.
pub(super) fn graph(files: &[(String, String)]) -> Graph {
    let mut whole = Crate { modules: BTreeMap::new() };
    for (file, text) in files {
        for module in modules(module_path(file), text) {
            whole.modules.insert(module.path.clone(), (file.clone(), module));
        }
    }
    let mut graph = Graph::new();
    for (file, module) in whole.modules.values() {
        let imported = module.imports.iter();
        let mentioned = module.names.iter().map(|path| (&path[0], path));
        for (word, path) in imported.chain(mentioned) {
            let Some(target) = whole.file_of(&module.path, path) else { continue };
            if target != file && !module.is_exempt(word, file, target) {
                let names = graph.entry(file.clone()).or_default();
                names.entry(target.clone()).or_default().insert(path.join("::"));
            }
        }
    }
    graph
}

/// `world/log.rs` and `world/log/mod.rs` are the module `world::log`.
fn module_path(file: &str) -> Vec<String> {
    let path = file.trim_end_matches(".rs").trim_end_matches("/mod");
    match path {
        "lib" | "main" => Vec::new(),
        path => path.split('/').map(str::to_owned).collect(),
    }
}

impl Module {
    /// A name that is only re-exported does not count, and neither does a model resource that is used only as the
    /// type of an id.
    fn is_exempt(&self, word: &String, file: &str, target: &str) -> bool {
        let unused = || !self.names.iter().any(|path| path[0] == *word);
        let in_model = |file: &str| file.starts_with("model/");
        self.passed_on.contains(word) && unused()
            || in_model(file) && in_model(target) && !self.more_than_an_id.contains(word)
    }
}

impl Crate {
    /// The file that defines what `path` names in the module `within`; `None` for a module as a whole.
    fn file_of(&self, within: &[String], path: &[String]) -> Option<&String> {
        let (place, rest) = place_of(within, path);
        (!rest.is_empty()).then(|| self.defined(&place, rest, 0)).flatten().map(|found| found.0)
    }

    /// The file that defines `path`, which begins with a name in the scope of module `place`, and whether the
    /// definition is explicit. A name defined by a macro is in no list, and belongs to the last module of its path.
    fn defined(&self, place: &[String], path: &[String], depth: usize) -> Option<(&String, bool)> {
        let (file, module) = self.modules.get(place)?;
        let (first, rest) = path.split_first()?;
        let child: Vec<String> = place.iter().chain([first]).cloned().collect();
        if self.modules.contains_key(&child) && !(rest.is_empty() && module.defines.contains(first))
        {
            return if rest.is_empty() { None } else { self.defined(&child, rest, depth) };
        }
        if module.defines.contains(first) || depth > MOST_STEPS {
            return Some((file, true));
        }
        if let Some(target) = module.imports.get(first).filter(|target| target.as_slice() != path) {
            let whole: Vec<String> = target.iter().chain(rest).cloned().collect();
            let (place, rest) = place_of(place, &whole);
            return if rest.is_empty() { None } else { self.defined(&place, rest, depth + 1) };
        }
        let through_glob = module.globs.iter().find_map(|glob| {
            let whole: Vec<String> = glob.iter().chain(path).cloned().collect();
            let (place, rest) = place_of(place, &whole);
            self.defined(&place, rest, depth + 1).filter(|found| found.1)
        });
        through_glob.or(Some((file, false)))
    }
}

/// The module that a path begins at, and the rest of the path from there.
fn place_of<'p>(within: &[String], path: &'p [String]) -> (Vec<String>, &'p [String]) {
    let mut place = if path[0] == "crate" { Vec::new() } else { within.to_vec() };
    let mut rest = path;
    while let Some((word, after)) = rest.split_first() {
        match word.as_str() {
            "super" => drop(place.pop()),
            "crate" | "self" => {}
            _ => break,
        }
        rest = after;
    }
    (place, rest)
}

/// Groups of files of which each imports every other, directly or through others; the largest first.
pub(super) fn cycles(graph: &Graph) -> Vec<BTreeSet<String>> {
    let candidates = within_cycles(graph);
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        candidates.iter().map(|file| (*file, reach(graph, file, &candidates))).collect();
    let mut found: BTreeSet<BTreeSet<String>> = BTreeSet::new();
    for (file, others) in &reached {
        let both = |other: &&&String| reached[**other].contains(file);
        let group: BTreeSet<String> = others.iter().filter(both).map(|o| (*o).clone()).collect();
        if group.len() > 1 {
            found.insert(group);
        }
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|group| std::cmp::Reverse(group.len()));
    found
}

/// The files that remain after repeatedly dropping each file without imports of remaining files.
fn within_cycles(graph: &Graph) -> BTreeSet<&String> {
    let mut left: BTreeSet<&String> = graph.keys().collect();
    loop {
        let imports = |file: &&String| graph[*file].keys().any(|target| left.contains(target));
        let kept: BTreeSet<&String> = left.iter().copied().filter(imports).collect();
        if kept.len() == left.len() {
            return kept;
        }
        left = kept;
    }
}

fn reach<'a>(
    graph: &'a Graph,
    start: &'a String,
    within: &BTreeSet<&String>,
) -> BTreeSet<&'a String> {
    let mut seen = BTreeSet::new();
    let mut next = vec![start];
    while let Some(file) = next.pop() {
        let targets = graph[file].keys().filter(|target| within.contains(target));
        next.extend(targets.filter(|target| seen.insert(*target)));
    }
    seen
}

/// The imports between the files of a group, a line each.
pub(super) fn explain(graph: &Graph, group: &BTreeSet<String>) -> String {
    let mut lines = vec![format!("{} files import one another in a cycle:", group.len())];
    for file in group {
        for (target, names) in graph.get(file).into_iter().flatten() {
            if group.contains(target) {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                lines.push(format!("  {file} -> {target}: {}", names.join(", ")));
            }
        }
    }
    lines.join("\n")
}
