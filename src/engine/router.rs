//! The router: the paths of the tables with their methods, so that one look-up gives the row, the 404 or the
//! 405.

use std::borrow::Cow;
use std::sync::{Mutex, OnceLock, PoisonError};

use http::Method;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::Value;
use strsim::levenshtein;

use crate::api::check::Checker;
use crate::api::operation::Operation;
use crate::api::{self, crud, operation};
use crate::engine::columns::{Column, columns};
use crate::engine::contract::{Paging, Rows};
use crate::value::{ApiError, ErrorCode};

/// A row with the data derived from it.
pub(super) struct Route {
    pub(super) operation: &'static Operation,
    /// The status of its success.
    pub(super) status: u16,
    /// The page sizes, if it takes `per_page`.
    pub(super) paging: Paging,
    /// Whether it needs an `Idempotency-Key`.
    pub(super) key_required: bool,
    /// Further paths.
    aliases: Vec<&'static str>,
    /// The names of its path parameters, in path order.
    parameters: Vec<&'static str>,
    /// Its place among all rows.
    pub(super) place: usize,
    checker: OnceLock<Checker>,
    /// The columns of its rows, if it is a list.
    columns: OnceLock<Option<Vec<Column>>>,
    /// The path of the resources that it creates.
    created_at: OnceLock<Option<String>>,
    /// The row that reads the resource on which this one acts.
    resource: OnceLock<Option<&'static Route>>,
    all: OnceLock<&'static [Route]>,
}

impl Route {
    /// The row as the table has it.
    fn of(operation: &'static Operation) -> Self {
        Self {
            operation,
            status: operation.success,
            paging: Paging::default(),
            key_required: false,
            aliases: Vec::new(),
            parameters: operation.path_parameters().collect(),
            place: 0,
            checker: OnceLock::new(),
            columns: OnceLock::new(),
            created_at: OnceLock::new(),
            resource: OnceLock::new(),
            all: OnceLock::new(),
        }
    }

    /// Its path and its aliases.
    fn paths(&self) -> impl Iterator<Item = &'static str> {
        core::iter::once(self.operation.path).chain(self.aliases.iter().copied())
    }

    /// The path in the table of a request to this row. An alias is replaced.
    pub(super) fn path<'p>(
        &self,
        sent: &'p str,
        params: &[(&'static str, String)],
    ) -> Cow<'p, str> {
        let fill = |path: String, (name, value): &(&str, String)| {
            path.replace(&format!("{{{name}}}"), value)
        };
        let filled = || params.iter().fold(self.operation.path.to_owned(), fill);
        if self.aliases.is_empty() { Cow::Borrowed(sent) } else { Cow::Owned(filled()) }
    }

    /// The default and the maximum of `per_page`.
    pub(super) fn settle_paging(&self, input: &mut Value) {
        let Paging { default, most } = self.paging;
        if let Some(rows) = input.get_mut("per_page") {
            if rows.as_u64().is_some_and(|rows| rows > most) {
                *rows = most.into();
            }
        } else if default != crud::PER_PAGE && self.checker().carried("per_page").is_some() {
            input["per_page"] = default.into();
        }
    }

    /// The checker of the row's input, compiled when the row is first called.
    pub(super) fn checker(&self) -> &Checker {
        self.checker.get_or_init(|| compile(self.operation))
    }

    /// The columns of its rows in a table, if it is a list.
    pub(super) fn columns(&self) -> Option<&[Column]> {
        let find = || {
            let mut generator = SchemaGenerator::new(SchemaSettings::draft2020_12());
            let schema = Value::from((self.operation.output)(&mut generator));
            columns(&schema, &generator.take_definitions(true))
        };
        self.columns.get_or_init(find).as_deref()
    }

    /// The row that reads the resource that this one changes: at the same path, or at the path without the
    /// words after the last id.
    pub(super) fn reads_resource(&self) -> Option<&'static Route> {
        *self.resource.get_or_init(|| {
            let target = self.operation.resource_path()?;
            self.find_read(|other| other == target)
        })
    }

    /// The path of the resources that this row creates, up to the id.
    pub(super) fn reads_at(&self) -> Option<&str> {
        let find = || {
            let collection = self.operation.collection();
            let at = |path: &str| self.operation.creates_at(path);
            self.find_read(at).map(|_| format!("{collection}/"))
        };
        self.created_at.get_or_init(find).as_deref()
    }

    fn find_read(&self, at: impl Fn(&str) -> bool) -> Option<&'static Route> {
        let all = self.all.get().copied().unwrap_or_default();
        all.iter().find(|route| {
            route.operation.method == operation::Method::Get && at(route.operation.path)
        })
    }
}

/// The result of a look-up.
pub(super) enum Found {
    Route(&'static Route, Vec<(&'static str, String)>),
    /// No path of the tables; the 404 names a similar one.
    Nothing(ApiError),
}

/// One path, with a row for each method.
type Methods = [Option<&'static Route>; operation::Method::ALL.len()];

/// The paths with the same first segments. They are compiled at the first request to one of them.
struct Group {
    beginning: &'static str,
    paths: Vec<(&'static str, Methods)>,
    compiled: OnceLock<matchit::Router<Methods>>,
}

impl Group {
    fn compiled(&self) -> &matchit::Router<Methods> {
        self.compiled.get_or_init(|| {
            let mut compiled = matchit::Router::new();
            for (path, row) in &self.paths {
                let inserted = compiled.insert(*path, *row);
                inserted.expect("the tables' paths do not conflict, and aliases were checked");
            }
            compiled
        })
    }
}

/// The first two segments of a path, as `/api/business`.
fn beginning(path: &str) -> &str {
    let mut slashes = path.bytes().enumerate().filter(|(_, byte)| *byte == b'/');
    slashes.nth(2).map_or(path, |(end, _)| &path[..end])
}

/// All paths of both tables.
pub(super) struct Router {
    groups: Vec<Group>,
    /// Whether all paths are in one group, because one has a parameter in its beginning.
    is_whole: bool,
    routes: &'static [Route],
}

impl Router {
    /// All rows that are served.
    pub(super) const fn routes(&self) -> &'static [Route] {
        self.routes
    }

    /// The router of the rows that are served, at all their paths.
    pub(super) fn new(rows: &Rows) -> Self {
        let routes = routes(rows);
        let paths = || {
            let paths = |route: &'static Route| route.paths().map(move |path| (path, route));
            routes.iter().flat_map(paths)
        };
        let is_whole = paths().any(|(path, _)| beginning(path).contains('{'));
        let mut groups: Vec<Group> = Vec::new();
        for (path, route) in paths() {
            let beginning = if is_whole { "" } else { beginning(path) };
            let known = groups.iter().rposition(|group| group.beginning == beginning);
            let known = known.unwrap_or_else(|| {
                groups.push(Group { beginning, paths: Vec::new(), compiled: OnceLock::new() });
                groups.len() - 1
            });
            let paths = &mut groups[known].paths;
            let place = route.operation.method as usize;
            if let Some((_, methods)) = paths.iter_mut().find(|(other, _)| *other == path) {
                methods[place] = Some(route);
            } else {
                let mut row = Methods::default();
                row[place] = Some(route);
                paths.push((path, row));
            }
        }
        Self { groups, is_whole, routes }
    }

    /// The compiled paths among which this one can be.
    fn paths(&self, path: &str) -> Option<&matchit::Router<Methods>> {
        let beginning = if self.is_whole { "" } else { beginning(path) };
        self.groups.iter().find(|group| group.beginning == beginning).map(Group::compiled)
    }

    /// The row of a method and path, with the values of its parameters.
    pub(super) fn find(&self, method: &Method, path: &str) -> Result<Found, ApiError> {
        let Some(matched) = self.paths(path).and_then(|paths| paths.at(path).ok()) else {
            return Ok(Found::Nothing(self.no_route(path)));
        };
        let wanted =
            operation::Method::ALL.iter().position(|known| known.name() == method.as_str());
        let Some(route) = wanted.and_then(|place| matched.value[place]) else {
            return Err(not_allowed(method.as_str(), allow(matched.value)));
        };
        if matched.params.is_empty() {
            return Ok(Found::Route(route, Vec::new()));
        }
        // By name, because an alias can have the parameters in another order.
        let mut params = Vec::with_capacity(route.parameters.len());
        params.extend(
            (route.parameters.iter())
                .filter_map(|&name| Some((name, matched.params.get(name)?.to_owned()))),
        );
        Ok(Found::Route(route, params))
    }

    fn no_route(&self, path: &str) -> ApiError {
        let shown: String = path.chars().take(100).collect();
        let paths = |route: &'static Route| route.paths().map(move |path| (path, route));
        let closest =
            self.routes.iter().flat_map(paths).min_by_key(|(known, _)| distance(path, known));
        let is_similar = |known: &str| {
            path.len() > 1 && known.ends_with(path) || distance(path, known) * 4 <= path.len()
        };
        let closest = closest.filter(|(known, _)| is_similar(known));
        let detail = match closest {
            Some((known, route)) => {
                let method = route.operation.method.name();
                format!("there is no route {shown}; the closest is {method} {known}")
            }
            None => format!("there is no route {shown}"),
        };
        ApiError::new(ErrorCode::RouteNotFound, detail)
    }
}

/// Made once in a process for every set of rows, and never freed, because nearly all engines have the same
/// set.
fn routes(rows: &Rows) -> &'static [Route] {
    static MADE: Mutex<Vec<(Rows, &'static [Route])>> = Mutex::new(Vec::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, routes)) = made.iter().find(|(other, _)| other == rows) {
        return routes;
    }
    let served = api::product().filter(|row| rows.serves(row));
    let product = served.map(|operation| Route {
        aliases: rows.aliases(operation).iter().map(|path| &*path.clone().leak()).collect(),
        status: rows.status(operation),
        paging: rows.paging,
        key_required: rows.key_required && operation.method == operation::Method::Post,
        ..Route::of(operation)
    });
    let control = api::control().map(|operation| Route {
        aliases: rows.product_path(operation).map(|path| &*path.leak()).into_iter().collect(),
        ..Route::of(operation)
    });
    let routes = product.chain(control).enumerate();
    let routes: Vec<Route> = routes.map(|(place, route)| Route { place, ..route }).collect();
    let routes: &'static [Route] = routes.leak();
    for route in routes {
        route.all.get_or_init(|| routes);
    }
    made.push((rows.clone(), routes));
    routes
}

/// The checker of a row's input, from the schema in the document.
fn compile(operation: &Operation) -> Checker {
    let mut generator = SchemaGenerator::new(SchemaSettings::draft2020_12());
    let schema = Value::from((operation.input)(&mut generator));
    Checker::compile(&schema, &generator.take_definitions(true))
}

fn allow(methods: &Methods) -> String {
    let routes = methods.iter().flatten();
    // HEAD works wherever GET does.
    let names = routes.map(|route| match route.operation.method {
        operation::Method::Get => "GET, HEAD",
        other => other.name(),
    });
    names.collect::<Vec<&str>>().join(", ")
}

/// 405 with the allowed methods of the path.
pub(super) fn not_allowed(method: &str, allow: String) -> ApiError {
    let shown: String = method.chars().take(20).collect();
    let mut error = ApiError::new(
        ErrorCode::MethodNotAllowed,
        format!("this path does not allow {shown}, only {allow}"),
    );
    error.header = Some(("allow", allow));
    error
}

/// Edits between a path and a template whose braces match any segment: Levenshtein's distance over segments.
fn distance(path: &str, template: &str) -> usize {
    let removed = |segment: &str| segment.len().min(64) + 1;
    let template: Vec<&str> = template.split('/').collect();
    let mut row: Vec<usize> = vec![0];
    for right in &template {
        row.push(row.last().copied().unwrap_or(0) + removed(right));
    }
    for left in path.split('/').take(12) {
        let start: String = left.chars().take(64).collect();
        let mut next = vec![row[0] + removed(left)];
        for (place, right) in template.iter().enumerate() {
            let other = if right.starts_with('{') { 1 } else { levenshtein(&start, right) };
            let best = (row[place] + other).min(row[place + 1] + removed(left));
            next.push(best.min(next[place] + removed(right)));
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_path_names_the_closest_one() {
        let router = Router::new(&Rows::default());
        for (path, expected) in [
            ("/api/business/employes", "/api/business/employees"),
            ("/v1/payroll/runs", "/v1/payroll/run"),
            (
                "/api/business/payroll-runs/prn_1/item",
                "/api/business/payroll-runs/{payroll_run_id}/items",
            ),
            ("/_sandbox/clok", "/_sandbox/clock"),
        ] {
            let Ok(Found::Nothing(error)) = router.find(&Method::GET, path) else {
                panic!("{path} was found")
            };
            assert!(error.detail.ends_with(expected), "{}", error.detail);
        }
    }

    #[test]
    fn a_path_that_resembles_none_names_none() {
        let router = Router::new(&Rows::default());
        for (path, end) in [
            ("/nosuch", "no route /nosuch"),
            ("/_sandbox/inbound/nosuch", "no route /_sandbox/inbound/nosuch"),
            ("/employees", "the closest is GET /api/business/employees"),
        ] {
            let Ok(Found::Nothing(error)) = router.find(&Method::GET, path) else {
                panic!("{path} was found")
            };
            assert!(error.detail.ends_with(end), "{}", error.detail);
        }
    }

    #[test]
    fn a_known_path_names_its_methods() {
        let error = Router::new(&Rows::default())
            .find(&Method::DELETE, "/api/business/companies")
            .err()
            .expect("refused");
        assert_eq!(error.header, Some(("allow", "GET, HEAD, POST".to_owned())));
    }
}
