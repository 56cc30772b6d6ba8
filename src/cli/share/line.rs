//! A world as one line: `sandbox-1.` and the compressed seed, flags and inputs in base64.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cli::failure::Failure;
use crate::engine::recording::SpentRow;
use crate::world::script::Scenario;
use crate::world::{ClockMode, Shape, WORLD_VERSION};

/// The beginning of a line, with the version of its form.
pub(super) const PREFIX: &str = "sandbox-1.";
/// The most bytes of the text that is compressed.
const MOST_BYTES: usize = 16 << 20;
/// Hexadecimal digits of the digest in a line.
const DIGEST: usize = 24;

/// A world by its seed, flags and inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shared {
    #[serde(rename = "w")]
    world_version: u32,
    #[serde(rename = "s")]
    pub(super) seed: u64,
    #[serde(rename = "h", default, skip_serializing_if = "is_default")]
    pub(super) shape: Shape,
    #[serde(rename = "c")]
    pub(super) clock: ClockMode,
    #[serde(rename = "n", default, skip_serializing_if = "Vec::is_empty")]
    pub(super) scenarios: Vec<String>,
    #[serde(rename = "o", default, skip_serializing_if = "Vec::is_empty")]
    pub(super) imports: Vec<Arc<Scenario>>,
    /// The first digits of the digest after the inputs.
    #[serde(rename = "d")]
    pub(super) digest: String,
    #[serde(rename = "i")]
    pub(super) inputs: Vec<Input>,
    /// The counters of faults that have changed since the last input.
    #[serde(rename = "f", default, skip_serializing_if = "Vec::is_empty")]
    pub(super) spent: Vec<SpentRow>,
}

/// A call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[serde(rename = "m", default = "post", skip_serializing_if = "is_post")]
    pub(super) method: String,
    #[serde(rename = "p")]
    pub(super) path: String,
    #[serde(rename = "h", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) headers: BTreeMap<String, String>,
    #[serde(rename = "b", default, skip_serializing_if = "Value::is_null")]
    pub(super) body: Value,
    /// The counters of faults before it, if they have changed.
    #[serde(rename = "f", default, skip_serializing_if = "Vec::is_empty")]
    pub(super) spent: Vec<SpentRow>,
}

fn post() -> String {
    "POST".to_owned()
}

fn is_post(method: &str) -> bool {
    method == "POST"
}

fn is_default(shape: &Shape) -> bool {
    *shape == Shape::default()
}

impl Shared {
    /// From the answer of `GET /_sandbox/inputs`.
    pub(super) fn of_inputs(found: &Value) -> Result<Self, Failure> {
        let unreadable =
            |_| Failure::Impossible("the answer is not from a sandbox of this version".to_owned());
        let member = |name: &str| found[name].clone();
        let shape = ["companies", "employees_per_company", "countries", "start"];
        let shape: Value = shape.map(|name| (name.to_owned(), member(name))).into_iter().collect();
        let spent = |of: &Value| -> serde_json::Result<Vec<SpentRow>> {
            let rows: Option<_> = serde_json::from_value(of["fault_counters"].clone())?;
            Ok(rows.unwrap_or_default())
        };
        let input = |input: &Value| -> serde_json::Result<Input> {
            let body = input["body"].as_str().filter(|body| !body.is_empty());
            Ok(Input {
                method: input["method"].as_str().unwrap_or_default().to_owned(),
                path: input["path"].as_str().unwrap_or_default().to_owned(),
                headers: serde_json::from_value(input["headers"].clone())?,
                body: body.map_or(Ok(Value::Null), serde_json::from_str)?,
                spent: spent(input)?,
            })
        };
        let inputs = found["inputs"].as_array().map_or(&[][..], Vec::as_slice).iter().map(input);
        Ok(Self {
            world_version: serde_json::from_value(member("world_version")).map_err(unreadable)?,
            seed: serde_json::from_value(member("seed")).map_err(unreadable)?,
            shape: serde_json::from_value(shape).map_err(unreadable)?,
            clock: serde_json::from_value(member("clock")).map_err(unreadable)?,
            scenarios: serde_json::from_value(member("scenarios")).map_err(unreadable)?,
            imports: serde_json::from_value(member("imports")).map_err(unreadable)?,
            digest: found["digest"].as_str().unwrap_or_default().chars().take(DIGEST).collect(),
            inputs: inputs.collect::<serde_json::Result<_>>().map_err(unreadable)?,
            spent: spent(found).map_err(unreadable)?,
        })
    }

    pub(super) fn encode(&self) -> String {
        let mut short = self.clone();
        short.digest.truncate(DIGEST);
        let text = serde_json::to_vec(&short).expect("all keys are texts");
        format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(compress_to_vec(&text, 10)))
    }

    /// The world of a line, if this program can make it.
    pub(super) fn decode(line: &str) -> Result<Self, Failure> {
        let wrong =
            |why: &str| Failure::Usage(format!("this is not a line of `sandbox share`: {why}"));
        let coded = line.trim().strip_prefix(PREFIX);
        let coded = coded.ok_or_else(|| wrong("it must begin with \"sandbox-1.\""))?;
        let damaged = "it is damaged or incomplete; copy the whole line";
        let bytes = URL_SAFE_NO_PAD.decode(coded).map_err(|_| wrong(damaged))?;
        let text = decompress_to_vec_with_limit(&bytes, MOST_BYTES).map_err(|_| wrong(damaged))?;
        let shared: Self = serde_json::from_slice(&text)
            .map_err(|error| wrong(&format!("its content is invalid ({error})")))?;
        if shared.world_version != WORLD_VERSION {
            return Err(Failure::Impossible(format!(
                "the line is of world version {}; the seeds of this sandbox produce world version {WORLD_VERSION}",
                shared.world_version
            )));
        }
        shared.shape.check().map_err(|why| wrong(&why))?;
        Ok(shared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_line_is_read_as_it_was_written_and_every_cut_is_refused() {
        let input = Input {
            method: post(),
            path: "/v1/payroll/run".to_owned(),
            headers: BTreeMap::from([("idempotency-key".to_owned(), "k".to_owned())]),
            body: json!({"company_id": "com_bp9fm3zzz4aa5", "period": "2026-01"}),
            spent: vec![SpentRow { id: "flt_1".to_owned(), asked: 2, hits: 1 }],
        };
        let shared = Shared {
            world_version: WORLD_VERSION,
            seed: 7,
            shape: Shape { companies: 1, ..Shape::default() },
            clock: ClockMode::Manual,
            scenarios: vec!["late-return".to_owned()],
            imports: vec![Arc::default()],
            digest: "0123456789abcdef01234567".to_owned(),
            spent: input.spent.clone(),
            inputs: vec![input.clone(), Input { method: "DELETE".to_owned(), ..input }],
        };
        let line = shared.encode();
        assert_eq!(Shared::decode(&format!(" {line}\n")).expect("it is whole"), shared);
        for end in 0..line.len() {
            assert!(Shared::decode(&line[..end]).is_err(), "{end}");
        }
        for wrong in ["", "sandbox-2.AAAA", "sandbox-1.****", "sandbox-1.AAAA"] {
            assert!(Shared::decode(wrong).is_err(), "{wrong}");
        }
    }
}
