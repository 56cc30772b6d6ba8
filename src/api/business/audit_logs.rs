//! The audit log: one record for each event of the world's log, made from it and never stored.

use crate::api::prelude::*;
use crate::value::text::camel_case;
use crate::world::Event;
use crate::world::audit_trail::{AuditRecord, AuditRow, record};

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::Get,
        path: "/api/business/audit-logs",
        domain: Domain::Business,
        contract: Contract::Assumed,
        summary: "List audit records",
        description: "Who did what, when, to which resource, oldest first: one record for each event, a fold of the world's log. Of a \
            long log the oldest records may be gone; each keeps its `sequence`.",
        ..operation!(read list_audit_logs)
    },
    Operation {
        method: Method::Get,
        path: "/api/business/audit-logs/{audit_log_id}",
        domain: Domain::Business,
        contract: Contract::Assumed,
        summary: "Read an audit record",
        description: "With what was written, before and after, and its place in a chain of hashes: `hash` is the SHA-256 of the record \
            without `hash`, as JSON in UTF-8 without white space, members sorted by name at every level; `previous_hash` is that of \
            the record before it.",
        ..operation!(read get_audit_log)
    },
];

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListAuditLogs {
    #[serde(flatten)]
    paging: Paging,
    /// Only what happened to that company.
    company_id: Option<Id<Company>>,
    /// Only what happened to resources of that type: `payout`.
    resource_type: Option<Text<64>>,
    /// Only what happened to that resource.
    resource_id: Option<Text<64>>,
    /// Only what follows from calls of that operation, at once or with the clock: `runPayroll`.
    operation: Option<Text<64>>,
    /// Only what happened on that day (UTC) and later.
    from: Option<Date>,
    /// Only what happened on that day and earlier; not before `from`.
    to: Option<Date>,
}

impl ListAuditLogs {
    fn accepts(&self, event: &Event) -> bool {
        let cause = event.request.as_ref().or(event.cause.as_ref());
        self.company_id.is_none_or(|company| event.company_id() == Some(company))
            && self
                .resource_type
                .as_ref()
                .is_none_or(|kind| kind.as_str() == event.subject.kind.name())
            && self.resource_id.as_ref().is_none_or(|id| id.as_str() == event.subject.to_string())
            && self.operation.as_ref().is_none_or(|operation| {
                cause.is_some_and(|cause| camel_case(&cause.operation) == operation.as_str())
            })
            && self.from.is_none_or(|from| event.at.date() >= from)
            && self.to.is_none_or(|to| event.at.date() <= to)
    }
}

fn list_audit_logs(world: &World, input: ListAuditLogs) -> Result<List<AuditRow>, ApiError> {
    in_order(input.from, input.to)?;
    let (log, paging) = (world.log(), input.paging);
    let unfiltered = input.company_id.is_none()
        && input.resource_type.is_none()
        && input.resource_id.is_none()
        && input.operation.is_none()
        && input.from.is_none()
        && input.to.is_none();
    if unfiltered {
        // A page of a log of any length costs what the page costs.
        let before = log.first_sequence() - 1;
        let total = log.len() - before.min(log.len());
        let range = paging.range(total);
        let events = range.filter_map(|place| log.get(before + place + 1));
        return Ok(List {
            data: events.map(|event| AuditRow::of(event)).collect(),
            meta: paging.meta(total),
        });
    }
    let events: Vec<&Arc<Event>> = log.iter().filter(|event| input.accepts(event)).collect();
    let page = paging.page_of(&events);
    Ok(List {
        data: page.iter().map(|event| AuditRow::of(event)).collect(),
        meta: paging.meta(events.len() as u64),
    })
}

/// 422 for days that end before they begin.
pub(crate) fn in_order(from: Option<Date>, to: Option<Date>) -> Result<(), ApiError> {
    match (from, to) {
        (Some(from), Some(to)) if to < from => {
            let detail = format!("the days end on {to}, before they begin on {from}");
            Err(ApiError::of_member("/to", "before_from", detail))
        }
        _ => Ok(()),
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct OneAuditLog {
    /// The record.
    audit_log_id: Id<AuditRecord>,
}

impl Identified for AuditRecord {
    fn id_text(&self) -> Option<String> {
        Some(self.id().to_owned())
    }
}

fn get_audit_log(world: &World, input: OneAuditLog) -> Result<Data<AuditRecord>, ApiError> {
    let id = input.audit_log_id;
    let found = world.log().iter().find(|event| event.id == id.bits());
    let hashes = |event: &Arc<Event>| world.log().hashes(event.sequence);
    let found = found.and_then(|event| Some((event, hashes(event)?)));
    let Some((event, (previous, hash))) = found else {
        let error = ApiError::not_found(AuditRecord::NAME);
        return Err(if id == Id::UNKNOWN { error } else { error.about(id) });
    };
    Ok(Data(record(event, previous, Some(hash))))
}
