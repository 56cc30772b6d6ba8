//! The table of tools: their published form, the check of their arguments, and the function of each.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use crate::api::check::Checker;
use crate::api::json::quoted;
use crate::render::mcp::answer::Page;
use crate::render::mcp::calling::{Calling, Calls, Done};
use crate::render::mcp::{Agents, INVALID_PARAMS, Wrong, describing, finding, operations, outside};

/// The tools as `tools/list` shows them.
const PUBLISHED: &str = include_str!("../../../fixtures/mcp-tools.json");

/// The function of a tool, which gets checked arguments.
type Function = fn(&Calling<'_>, &Value) -> Done;

/// The functions by name.
const FUNCTIONS: [(&str, Function); 12] = [
    ("find_operation", finding::find),
    ("describe_operation", describing::describe),
    ("call_operation", operations::call),
    ("advance_clock", outside::advance),
    ("set_rule", outside::rule),
    ("set_fault", outside::fault),
    ("snapshot", outside::snapshot),
    ("diff", outside::diff),
    ("verify", outside::verify),
    ("explain", outside::explain),
    ("list_events", outside::events),
    ("reset", outside::reset),
];

struct Tool {
    name: &'static str,
    arguments: Checker,
    function: Function,
}

impl Tool {
    /// Whether its function reads the cursor.
    fn has_own_pages(&self) -> bool {
        self.name == "find_operation"
    }
}

static LIST: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(PUBLISHED).expect("the list of tools is JSON"));

static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    let tool = |(name, function): (&'static str, Function)| {
        let rows = LIST["tools"].as_array().expect("a list of tools");
        let row = rows.iter().find(|row| row["name"] == name).expect("the tool is published");
        let arguments = Checker::compile(&row["inputSchema"], &Map::new());
        Tool { name, arguments, function }
    };
    FUNCTIONS.into_iter().map(tool).collect()
});

/// The list of tools, which has one page.
pub(super) fn listed(params: &Value) -> Result<Value, Wrong> {
    if !params["cursor"].is_null() {
        return Err(Wrong::new(INVALID_PARAMS, "the list of tools has one page: omit the cursor"));
    }
    Ok(json!({
        "tools": LIST["tools"],
        "resultType": "complete",
        "ttlMs": 3_600_000,
        "cacheScope": "public",
    }))
}

impl Agents {
    /// Calls a tool. A mistake of the model is a result, so that the model can correct it.
    pub(super) fn tool(&self, params: &Value, calls: &dyn Calls) -> Result<Value, Wrong> {
        let Some(name) = params["name"].as_str() else {
            return Err(Wrong::new(INVALID_PARAMS, "the member name must be the name of a tool"));
        };
        let Some(tool) = TOOLS.iter().find(|tool| tool.name == name) else {
            let known: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
            let why =
                format!("there is no tool {}; the tools are {}", quoted(name), known.join(", "));
            return Err(Wrong::new(INVALID_PARAMS, why));
        };
        let arguments = match &params["arguments"] {
            Value::Null => json!({}),
            given => given.clone(),
        };
        let Page { text, is_error } = self.page(tool, &arguments, calls);
        Ok(json!({
            "content": [{ "type": "text", "text": text }],
            "isError": is_error,
            "resultType": "complete",
        }))
    }

    fn page(&self, tool: &Tool, arguments: &Value, calls: &dyn Calls) -> Page {
        let caller = calls.caller();
        let wrong = tool.arguments.check(arguments);
        if !wrong.is_empty() {
            let answer = json!({ "error": "the arguments are invalid", "errors": wrong });
            return self.stored().page(caller, answer, true);
        }
        if let Some(cursor) = arguments["cursor"].as_str().filter(|_| !tool.has_own_pages()) {
            if let Some(page) = self.stored().continued(caller, cursor) {
                return page;
            }
            let why = "the cursor is unknown or its answer is no longer stored: repeat the call without it";
            return self.stored().page(caller, json!({ "error": why }), true);
        }
        let calling = Calling { calls, documents: &self.documents };
        let (answer, is_error) = match (tool.function)(&calling, arguments) {
            Ok(answer) => (answer, false),
            Err(answer) => (answer, true),
        };
        self.stored().page(caller, answer, is_error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_published_tool_has_a_function_and_reverse() {
        let names: Vec<&Value> =
            LIST["tools"].as_array().expect("rows").iter().map(|tool| &tool["name"]).collect();
        let functions: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
        assert_eq!(names, functions);
        assert!(names.len() <= 12);
    }

    /// `.ci/mcp.sh` counts tokens. A token of such text has more than three bytes.
    #[test]
    fn the_list_is_short() {
        let minified = LIST.to_string();
        assert!(minified.len() <= 9_000, "{} bytes", minified.len());
    }
}
