//! The inputs of a world, from which another sandbox makes the same world.

use serde_json::{Map, Value, json};

use crate::api::prelude::*;
use crate::tester::inputs::Recalled;
use crate::tester::wire::SpentRow;
use crate::world::{ClockMode, Shape, WORLD_VERSION};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([Operation {
    path: "/_sandbox/inputs",
    summary: "List the inputs of the world",
    description: "Returns seed, shape and clock of this key's world, and every call that changed \
        it, with its body. The same calls lead to the same world in another sandbox, unless it \
        refuses one of them. At most 500 calls are kept. `sandbox share` prints them as one line. \
        A key without a world returns 404; the call does not create a world.",
    errors: &[ErrorCode::ResourceNotFound, ErrorCode::InvalidStateTransition],
    existing: true,
    long: true,
    ..operation!(tester get_inputs)
}]);

/// A world as its inputs.
#[derive(Serialize, JsonSchema)]
pub(crate) struct WorldInputs {
    /// The version of the data that seeds generate.
    world_version: u32,
    /// The seed of the world.
    seed: u64,
    /// Number of companies at growth.
    companies: u64,
    /// Number of employees of each.
    employees_per_company: u64,
    /// Countries of the companies in turn, ISO 3166-1 alpha-2.
    countries: Vec<String>,
    /// Start of virtual time.
    start: Timestamp,
    /// The clock: `instant` or `manual`.
    clock: ClockMode,
    /// Names of the scenarios that the world started with.
    scenarios: Vec<String>,
    /// Imports that the world started with, with the calls that they make.
    imports: Vec<Map<String, Value>>,
    /// The calls that changed the world, in order.
    inputs: Vec<InputShape>,
    /// The counters of faults that have changed since the last of these calls.
    fault_counters: Vec<SpentRow>,
    /// Hash of the whole world after them.
    digest: String,
}

/// A call that changed the world.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "WorldInput")]
struct InputShape {
    /// The HTTP method.
    method: &'static str,
    /// The path with the query.
    path: String,
    /// Headers that affect the call, never a credential.
    headers: BTreeMap<&'static str, String>,
    /// The body as it was sent; empty without one.
    body: String,
    /// The counters of faults before the call, if they have changed since the call before. Calls that a fault refused change them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fault_counters: Vec<SpentRow>,
}

impl InputShape {
    fn of(Recalled { input, spent, .. }: &Recalled) -> Self {
        Self {
            method: input.method,
            path: input.target.to_string(),
            headers: input.headers.iter().map(|(name, value)| (*name, value.to_string())).collect(),
            body: input.body.to_string(),
            fault_counters: spent.clone(),
        }
    }
}

fn get_inputs(session: &mut Session<'_>, _: Nothing) -> Result<Plain<WorldInputs>> {
    let (base, clock, inputs) = session.tester.inputs.all(session.world).map_err(|why| {
        let detail = format!(
            "this world cannot be reproduced from its inputs: {why}; use `sandbox \
            --record FILE` and `sandbox bundle`"
        );
        ApiError::new(ErrorCode::InvalidStateTransition, detail)
    })?;
    let (imports, scenarios): (Vec<_>, Vec<_>) =
        session.tester.inputs.scenarios.iter().partition(|scenario| scenario.is_import());
    let Shape { companies, employees_per_company, countries, start } = base.shape().clone();
    Ok(Plain(WorldInputs {
        world_version: WORLD_VERSION,
        seed: base.seed(),
        companies,
        employees_per_company,
        countries,
        start,
        clock,
        scenarios: scenarios.into_iter().map(|scenario| scenario.name.clone()).collect(),
        imports: imports.into_iter().filter_map(|it| json!(it).as_object().cloned()).collect(),
        inputs: inputs.iter().map(InputShape::of).collect(),
        fault_counters: session.tester.inputs.spent().to_vec(),
        digest: session.world.digest(),
    }))
}
