//! The ids in sampled calls.

use crate::api::control::intervene;
use crate::model::business::PayrollItem;
use crate::model::payments::{Payout, PayoutStatus, ReconciliationMatch};
use crate::model::{AnyId, Kind};
use crate::render::openapi::header::REQUEST_ID;
use crate::render::samples::{Session, TRIES, kind_of_member};
use crate::value::Id;
use crate::world::envelope::event_id;

impl Session {
    /// An id for a member such as `company_id`: first the first grown resource, then created or changed ones, then
    /// further grown ones.
    pub(super) fn find(&mut self, member: &str, nth: u64) -> Option<String> {
        match member {
            "event_id" => {
                self.happen()?;
                return self.world.log().iter().next().map(|event| event_id(event));
            }
            "audit_log_id" => {
                if self.world.log().len() == 0 {
                    self.happen()?;
                }
                let first = self.world.log().iter().next()?;
                let kind = Kind::AuditLog;
                return Some(AnyId { kind, bits: first.id }.to_string());
            }
            "delivery_id" => {
                let lane = self.tester.outbox.lanes().first()?;
                return lane.deliveries().first().map(|delivery| delivery.id.clone());
            }
            "endpoint_id" => {
                let lane = self.tester.outbox.lanes().first();
                return lane.map(|lane| lane.endpoint.id.clone());
            }
            "fault_id" => return self.tester.wire.rows().first().map(|armed| armed.id.clone()),
            "rule_id" => return intervene::newest_rule(&self.world),
            "snapshot_id" => return Some(self.tester.snapshots.last()?.id.to_string()),
            "request_id" | "id" => {
                self.happen()?;
                return Some(REQUEST_ID.to_owned());
            }
            "match_id" => {
                let open = |id: &Id<ReconciliationMatch>| {
                    self.world.find(*id).is_some_and(|row| row.exception.is_some())
                };
                let id = self.world.created::<ReconciliationMatch>().find(open)?;
                return Some(id.to_string());
            }
            "payroll_item_id" => {
                let unpaid = |id: &Id<PayrollItem>| {
                    self.world.find(*id).is_some_and(|item| item.failure.is_some())
                };
                let id = self.world.created::<PayrollItem>().find(unpaid)?;
                return Some(id.to_string());
            }
            "payout_id" => {
                let waits = |id: &Id<Payout>| {
                    let payout = self.world.find(*id);
                    payout.is_some_and(|one| one.status == PayoutStatus::PendingApproval)
                };
                if let Some(id) = self.world.created::<Payout>().find(waits) {
                    return Some(id.to_string());
                }
            }
            _ => {}
        }
        // Members that name their resource without the domain's initials, or without `_id`.
        let member = match member {
            "screening_id" => "aml_screening_id",
            "alert_id" => "aml_alert_id",
            "collection" => "collection_id",
            member => member,
        };
        let kind = kind_of_member(member)?;
        let since = self.world.records().filter(|(other, ..)| *other == kind);
        let mut since: Vec<u64> = since.map(|(_, bits, _)| bits).collect();
        since.sort_unstable();
        let since = since.into_iter().map(|bits| AnyId { kind, bits }.to_string());
        let first = self.grown(kind, 1).into_iter();
        let next = (2..=TRIES).filter_map(|place| self.grown(kind, place));
        first.chain(since).chain(next).nth(usize::try_from(nth).ok()?)
    }
}
