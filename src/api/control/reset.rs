//! The reset of a world, to its start or to another one.

use serde::Deserializer;

use crate::api::control::intervene::remove_added;
use crate::api::prelude::*;
use crate::world::Shape;
use crate::world::script::{Scenario, WorldPart};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([Operation {
    method: Method::Post,
    path: "/_sandbox/reset",
    summary: "Reset the world",
    description: "Resets this key's world to its start, or replaces it with the world of another \
        seed, shape or scenario. Each member that is absent keeps its current value. Rules, faults \
        and limits that calls have added are removed. Imports, and the rows and limits of \
        scenarios, are kept.",
    example: "{}",
    errors: &[ErrorCode::UnknownScenario],
    long: true,
    ..operation!(tester reset_world)
}]);

#[derive(Deserialize, JsonSchema)]
#[expect(clippy::option_option, reason = "absent, null and a name have three meanings")]
pub(crate) struct ResetWorld {
    /// The seed to grow the world from, from 0 to 18446744073709551615. Default: the world's current seed.
    #[schemars(range(max = u64::MAX))]
    seed: Option<u64>,
    /// Countries of the companies in turn, ISO 3166-1 alpha-2. Default: those of the world.
    #[schemars(length(min = 1, max = 64))]
    countries: Option<Vec<Text<2>>>,
    /// Number of companies. Default: that of the world.
    #[schemars(range(min = 1, max = Shape::MOST))]
    companies: Option<u64>,
    /// Number of employees per company. Default: that of the world.
    #[schemars(range(min = 0, max = Shape::MOST))]
    employees_per_company: Option<u64>,
    /// Start of virtual time, between 2001 and 2098. Default: that of the world.
    start: Option<Timestamp>,
    /// The name of a scenario to run from the start; null for none. Default: restart the running scenarios.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<Text<128>>")]
    scenario: Option<Option<Text<128>>>,
}

/// A member that is present, even if it is null.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(member: D) -> Result<Option<T>, D::Error> {
    T::deserialize(member).map(Some)
}

/// The world after a reset.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Reset {
    /// The seed from which it is generated.
    seed: u64,
    /// Number of companies of the world.
    companies: u64,
    /// Number of employees per company.
    employees_per_company: u64,
    /// Countries of the companies in turn, ISO 3166-1 alpha-2.
    countries: Vec<String>,
    /// Names of the running scenarios.
    scenarios: Vec<String>,
    /// The current virtual time of the world.
    now: Timestamp,
}

fn reset_world(session: &mut Session<'_>, input: ResetWorld) -> Result<Plain<Reset>> {
    let named = input.scenario.as_ref().and_then(Option::as_ref);
    let named = named.map(|name| session.scenario(name.as_str())).transpose()?;
    let codes = |codes: &Vec<Text<2>>| {
        codes.iter().map(|code| code.as_str().to_ascii_uppercase()).collect()
    };
    let wanted = WorldPart {
        seed: input.seed,
        companies: input.companies,
        employees_per_company: input.employees_per_company,
        countries: input.countries.as_ref().map(codes),
        start: input.start,
        clock: None,
    };
    let invalid = |detail: String| ApiError::of_member("/scenario", "shape", detail);
    let mut mode = session.world.mode();
    let mut base = session.world.base().clone();
    if let Some(scenario) = &named {
        base = scenario.world.base(&base).map_err(invalid)?;
        mode = scenario.world.clock.unwrap_or(mode);
    }
    // The members of the call come after the scenario's world.
    if let Some((pointer, detail)) = wanted.shape(base.shape().clone()).fault() {
        return Err(ApiError::of_member(pointer, "shape", detail));
    }
    let base = wanted.base(&base).map_err(invalid)?;
    let world = session.restarted(base, mode)?;
    session.world.replace(world);
    session.tester.snapshots.note_reset();
    let running = std::mem::take(&mut session.tester.scenarios);
    let (imports, running): (Vec<_>, Vec<_>) =
        running.into_iter().partition(|scenario| scenario.is_import());
    let running = match (input.scenario, named) {
        (None, _) => running,
        (Some(_), named) => named.into_iter().collect(),
    };
    session.tester.scenarios = imports;
    // The new world has no rules. Faults and webhook rules are removed, too.
    remove_added(session);
    session.tester.follow_scenarios(session.world.base());
    for scenario in running {
        session.begin_scenario(scenario);
    }
    session.begins_here();
    let Shape { companies, employees_per_company, countries, .. } =
        session.world.base().shape().clone();
    let name = |scenario: &Arc<Scenario>| scenario.name.clone();
    Ok(Plain(Reset {
        seed: session.world.base().seed(),
        companies,
        employees_per_company,
        countries,
        scenarios: session.tester.scenarios.iter().map(name).collect(),
        now: session.world.now(),
    }))
}
