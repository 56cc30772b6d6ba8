//! Imports: a caller's own companies and people, created by ordinary calls at the start of a world or in a running one.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::api::control::inbound;
use crate::api::control::situation::{Saves, origin};
use crate::api::prelude::*;
use crate::api::{product, system};
use crate::world::external::External;
use crate::world::script::{ImportCall, Scenario};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([
    Operation {
        method: Method::Post,
        path: "/_sandbox/import",
        summary: "Import companies",
        description: "Creates companies, wallets, employees and customers of your own by ordinary \
            calls. If one of the calls is refused, nothing is imported. A text with mistakes is \
            refused with the report of `sandbox import --check`. The import belongs to the start \
            of this key's world: a reset repeats it.",
        example: r#"{"text":"[[company]]\nid = \"bakery\"\nlegal_name = \"Lagos Bakery Ltd\"\ncountry = \"NG\"\ncurrency = \"NGN\"\n\n[[wallet]]\ncompany = \"bakery\"\nbalance = 250000000\n"}"#,
        success: 201,
        long: true,
        ..operation!(tester import_companies)
    },
    Operation {
        path: "/_sandbox/external-ids",
        summary: "List external ids",
        description: "Lists your own ids of companies, employees and subjects (`metadata.external_id`), with the ids of the resources. \
            Scenarios, rules and `sandbox trigger` accept `@ext:` and such an id.",
        errors: &[ErrorCode::ResourceNotFound],
        long: true,
        ..operation!(read list_external_ids)
    },
]);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ImportCompanies {
    /// The text of an import file, in TOML. Messages name it `import.toml`. Give this or `paths`.
    #[schemars(length(min = 1, max = 1_048_576))]
    text: Option<String>,
    /// The names of several import files, whose texts are in `files`.
    #[schemars(length(min = 1, max = 100))]
    paths: Option<Vec<Text<1000>>>,
    /// The texts of other files by name: CSV files and scenarios that an import file names.
    #[serde(default)]
    files: BTreeMap<String, String>,
}

/// The name of the text in messages.
const TEXT: &str = "import.toml";

/// What was imported.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ImportedCompanies")]
pub(crate) struct Imported {
    /// Number of imported companies.
    companies: u64,
    /// Number of imported employees.
    employees: u64,
    /// Number of imported customers.
    customers: u64,
    /// Number of calls that created them.
    calls: u64,
    /// Number of events of these calls.
    events: u64,
    /// The current virtual time of the world.
    now: Timestamp,
}

impl Imported {
    /// Counts the resources created by the calls of an import.
    pub(crate) fn of(calls: &[ImportCall], before: &World, after: &World) -> Self {
        let count = |name: &str| calls.iter().filter(|call| call.call == name).count() as u64;
        Self {
            companies: count("createCompany"),
            employees: count("createEmployee"),
            customers: count("createSubject"),
            calls: calls.len() as u64,
            events: after.log_length() - before.log_length(),
            now: after.now(),
        }
    }
}

fn import_companies(session: &mut Session<'_>, input: ImportCompanies) -> Result<Plain<Imported>> {
    let mut files = input.files;
    let is_text = input.text.is_some();
    let paths = match (input.text, input.paths) {
        (Some(text), None) => {
            files.insert(TEXT.to_owned(), text);
            vec![TEXT.to_owned()]
        }
        (None, Some(paths)) => paths.into_iter().map(Text::into_string).collect(),
        _ => {
            let detail = "expected exactly one of text and paths";
            return Err(ApiError::of_member("", "one_of", detail));
        }
    };
    let read = session.host.read_import(&paths, &files, session.world);
    let (scenario, world) =
        if is_text { read? } else { read.map_err(|refusal| at_paths(refusal, &paths))? };
    let imported = Imported::of(&scenario.imports, session.world, &world);
    session.world.replace(world);
    session.tester.scenarios.push(scenario);
    session.tester.follow_scenarios(session.world.base());
    Ok(Plain(imported))
}

/// The refusal with pointers to `paths`, or to `files` for files that an import file names.
fn at_paths(mut refusal: ApiError, paths: &[String]) -> ApiError {
    for violation in &mut refusal.errors {
        let is_of = |path: &String| {
            violation.detail.strip_prefix(path).is_some_and(|rest| rest.starts_with(": "))
        };
        let place = paths.iter().position(is_of);
        violation.pointer =
            place.map_or_else(|| "/files".to_owned(), |place| format!("/paths/{place}"));
    }
    refusal
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListExternalIds {
    /// Filter by a reference without `@ext:`, such as `E-17` or `employee:E-17`. A reference to no resource or to several is a 404.
    reference: Option<Text<300>>,
}

/// An id of the caller, and the resource that has it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExternalId")]
pub(crate) struct ExternalRow {
    /// The caller's own id.
    external_id: String,
    /// The kind of resource.
    kind: &'static str,
    /// The id of the resource.
    id: String,
}

impl ExternalRow {
    fn of(external: External) -> Self {
        let External { external_id, id } = external;
        Self { external_id, kind: id.kind.name(), id: id.to_string() }
    }
}

fn list_external_ids(world: &World, input: ListExternalIds) -> Result<List<ExternalRow>> {
    let wanted = input.reference.map(|name| world.external(name.as_str()));
    let wanted =
        wanted.transpose().map_err(|why| ApiError::new(ErrorCode::ResourceNotFound, why))?;
    let found = world.externals().filter(|it| wanted.is_none_or(|wanted| wanted == it.id));
    Ok(List::whole(found.map(ExternalRow::of).collect()))
}

/// A refused call of an import.
pub(crate) struct Refused {
    /// Its place in the list.
    pub(crate) place: usize,
    pub(crate) error: ApiError,
}

/// The calls of an import that a bank answers.
const ANSWERED: [&str; 2] = ["verifyEmployeePayroll", "createFxTransfer"];

/// The reaction to a refused call, from its position and input: another input for a new attempt, or `None` to give
/// up.
pub(crate) type Again<'a> = dyn FnMut(usize, &Value, &ApiError) -> Option<Value> + 'a;

/// Makes all calls of an import, each with the bank's answer, and continues after a refusal. Returns the refused
/// calls. A call that needs the reply of a refused call is left out. The caller keeps the world only without
/// refusals.
pub(crate) fn perform(
    world: &mut World,
    calls: &[ImportCall],
    again: &mut Again<'_>,
) -> Vec<Refused> {
    let mut taken: BTreeSet<(Kind, String)> =
        world.externals().map(|it| (it.id.kind, it.external_id)).collect();
    let logged = world.log_length();
    let (mut saves, mut missing, mut refused) = (Saves::default(), BTreeSet::new(), Vec::new());
    let mut tried = 0; // without calls for a later day, so that a file without them creates the same ids
    for (place, call) in calls.iter().enumerate() {
        let waits = call.not_before.is_some_and(|day| world.today() < day);
        let lacks = call.needs.iter().any(|name| missing.contains(name.as_str()));
        if waits || lacks {
            missing.extend(call.save.as_deref());
            continue;
        }
        let mut make = |with: &Value| -> Result<()> {
            let own = free_id(&taken, &call.call, with)?;
            tried += 1;
            let origin = origin(world, ("import", "import_companies"), logged, tried);
            let step = (with, call.save.as_deref());
            saves.perform(world, row(&call.call)?, step, &Map::new(), &[], &origin)?;
            // Only the bank's answers: a later first day of work stays a later day.
            if ANSWERED.contains(&call.call.as_str()) {
                while system::run_caused(world, origin.id, false) {}
            }
            taken.extend(own);
            Ok(())
        };
        let mut with = Cow::Borrowed(&call.with);
        while let Err(error) = make(&with) {
            let Some(other) = again(place, &with, &error) else {
                missing.extend(call.save.as_deref());
                refused.push(Refused { place, error });
                break;
            };
            with = Cow::Owned(other);
        }
    }
    refused
}

/// Performs the imports of a new world, and adds their rows.
pub(crate) fn begin(world: &mut World, scenarios: &[Arc<Scenario>]) -> Result<()> {
    for import in scenarios.iter().filter(|scenario| scenario.is_import()) {
        if let Some(refused) =
            perform(world, &import.imports, &mut |_, _, _| None).into_iter().next()
        {
            let call = &import.imports[refused.place].call;
            let detail =
                format!("{} cannot be repeated: {call}: {}", import.name, refused.error.detail);
            return Err(ApiError { detail, ..refused.error });
        }
        world.load(import);
    }
    Ok(())
}

/// The caller's id of the resource that a call creates. Refuses one that a resource of the same kind has already.
fn free_id(
    taken: &BTreeSet<(Kind, String)>,
    operation: &str,
    with: &Value,
) -> Result<Option<(Kind, String)>> {
    let kind = match operation {
        "createCompany" => Kind::Company,
        "createEmployee" => Kind::Employee,
        "createSubject" => Kind::Subject,
        _ => return Ok(None),
    };
    let Some(id) = with["metadata"]["external_id"].as_str() else { return Ok(None) };
    let own = (kind, id.to_owned());
    if !taken.contains(&own) {
        return Ok(Some(own));
    }
    let detail = format!(
        "the world already has this {}: import it into a new world, or reset it",
        kind.name()
    );
    Err(ApiError::of_member("/metadata/external_id", "duplicate", detail))
}

/// The row of a call: an operation of the product, or an action of the outside world.
fn row(operation: &str) -> Result<&'static Operation> {
    let mut rows = product().chain(inbound::OPERATIONS);
    rows.find(|row| row.operation_id() == operation).ok_or_else(|| {
        let detail = format!("{operation} is not an operation of this version");
        ApiError::new(ErrorCode::ResourceNotFound, detail)
    })
}
