//! The audit log: one record per event, created from the event and never stored.

use crate::api::prelude::*;
use crate::value::text::camel_case;
use crate::world::Event;
use crate::world::audit_trail::{AuditRecord, AuditRow, record};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([
    Operation {
        path: "/api/business/audit-logs",
        summary: "List audit records",
        description: "Lists who did what to which resource and when, oldest first. There is one \
            record per event. The oldest records of a long log may be dropped; the others keep \
            their `sequence`.",
        long: true,
        ..operation!(read list_audit_logs)
    },
    Operation {
        path: "/api/business/audit-logs/{audit_log_id}",
        summary: "Read an audit record",
        description: "Returns a record with all changes and its position in the hash chain. `hash` \
            is the SHA-256 of the record without `hash`, as JSON in UTF-8 without white space, \
            with members sorted by name at every level. `previous_hash` is the `hash` of the \
            previous record.",
        long: true,
        ..operation!(read get_audit_log)
    },
]);

list! {
    struct ListAuditLogs of Event;
    filter
        company_id: Id<Company> => |company, event| event.company_id() == Some(*company),
        /// Filter by resource type, such as `payout`.
        resource_type: Text<64> => |kind, event| kind.as_str() == event.subject().kind.name(),
        /// Filter by resource.
        resource_id: Text<64> => |id, event| id.accepts(&event.subject()),
        /// Filter by operation, such as `runPayroll`. Includes later effects by timers.
        operation: Text<64> => |operation, event| {
            let cause = event.request.as_ref().or(event.cause.as_ref());
            cause.is_some_and(|cause| camel_case(&cause.operation) == operation.as_str())
        },
        /// Only events on or after this day (UTC).
        from: Date => |from, event| event.at.date() >= *from,
        /// Only events on or before this day; not before `from`.
        to: Date => |to, event| event.at.date() <= *to;
}

fn list_audit_logs(world: &World, input: ListAuditLogs) -> Result<List<AuditRow>> {
    in_order(input.from, input.to)?;
    let (log, paging) = (world.log(), input.paging);
    if !input.is_filtered() {
        // The cost of a page does not depend on the length of the log.
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
    Ok(paging.list(&events, |event| AuditRow::of(event)))
}

/// The 422 for a range that ends before it starts.
pub(crate) fn in_order(from: Option<Date>, to: Option<Date>) -> Result<()> {
    match (from, to) {
        (Some(from), Some(to)) if to < from => {
            let detail = format!("the end {to} is before the start {from}");
            Err(ApiError::of_member("/to", "before_from", detail))
        }
        _ => Ok(()),
    }
}

impl Identified for AuditRecord {
    fn id_text(&self) -> Option<String> {
        Some(self.id().to_owned())
    }
}

fn get_audit_log(world: &World, input: One<AuditRecord>) -> Result<Data<AuditRecord>> {
    let id = input.id;
    let found = world.log().iter().find(|event| event.id == id.bits());
    let hashes = |event: &Arc<Event>| world.log().hashes(event.sequence);
    let found = found.and_then(|event| Some((event, hashes(event)?)));
    let Some((event, (previous, hash))) = found else {
        let error = ApiError::not_found(AuditRecord::NAME);
        return Err(if id == Id::UNKNOWN { error } else { error.about(id) });
    };
    Ok(Data(record(event, previous, Some(hash))))
}
