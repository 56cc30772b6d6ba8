//! A leave request: days on which an employee requests to be absent, and the decision.

use crate::model::business::Employee;
use crate::model::prelude::*;

states! {
    /// Status of a leave request. The clock changes the employee's own status when approved leave starts and ends.
    LeaveStatus { Pending "pending", Approved "approved", Declined "declined" }
    "approve": Pending => Approved;
    "decline": Pending => Declined;
}

/// The type of leave. Only `unpaid` leave changes the pay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LeaveType {
    Annual,
    Sick,
    Unpaid,
    Parental,
}

impl LeaveType {
    /// The wording in an employee's status history.
    pub(crate) const fn in_words(self) -> &'static str {
        match self {
            Self::Annual => "annual leave",
            Self::Sick => "sick leave",
            Self::Unpaid => "unpaid leave",
            Self::Parental => "parental leave",
        }
    }
}

resource! {
    /// Days on which an employee wants to be absent.
    LeaveRequest: LeaveStatus {
        /// The employer.
        company_id: Id<Company>,
        /// The employee on leave.
        employee_id: Id<Employee>,
        /// The type of leave.
        #[serde(rename = "type")]
        kind: LeaveType,
        /// Current status.
        status: LeaveStatus,
        /// The first day of leave.
        start_date: Date,
        /// The last day of leave.
        end_date: Date,
        /// The employee's reason.
        reason: Option<String>,
        /// The note given with the decision.
        note: Option<String>,
        /// When the leave started, in virtual time.
        started_at: Option<Timestamp>,
        /// When the leave ended, in virtual time.
        ended_at: Option<Timestamp>,
        /// The first working day, if the employee returned before the planned end. The leave counts up to the day before.
        returned_on: Option<Date>,
    }
}

impl LeaveRequest {
    /// The last day that counts. It is before the first day if the employee never stopped working.
    pub(crate) fn last_day(&self) -> Date {
        match self.returned_on {
            Some(day) => self.end_date.min(day.plus_days(-1)),
            None => self.end_date,
        }
    }

    /// The first and last day of the leave within a date range. `None` if the two do not overlap.
    pub(crate) fn within(&self, from: Date, to: Date) -> Option<(Date, Date)> {
        let (first, last) = (self.start_date.max(from), self.last_day().min(to));
        (first <= last).then_some((first, last))
    }

    /// Whether the employee is on leave now because of this request.
    pub(crate) const fn is_running(&self) -> bool {
        self.started_at.is_some() && self.ended_at.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Date {
        text.parse().expect("a day")
    }

    fn request(returned_on: Option<&str>) -> LeaveRequest {
        LeaveRequest {
            id: Id::UNKNOWN,
            object: Object::NAME,
            company_id: Id::UNKNOWN,
            employee_id: Id::UNKNOWN,
            kind: LeaveType::Unpaid,
            status: LeaveStatus::Approved,
            start_date: day("2026-01-28"),
            end_date: day("2026-02-03"),
            reason: None,
            note: None,
            started_at: None,
            ended_at: None,
            returned_on: returned_on.map(day),
            created_at: Timestamp::EPOCH,
            updated_at: Timestamp::EPOCH,
            metadata: Metadata::default(),
            status_history: StatusHistory::default(),
        }
    }

    #[test]
    fn leave_counts_within_a_month_up_to_the_day_before_the_return() {
        let january = |request: &LeaveRequest| request.within(day("2026-01-01"), day("2026-01-31"));
        let february =
            |request: &LeaveRequest| request.within(day("2026-02-01"), day("2026-02-28"));
        let whole = request(None);
        assert_eq!(january(&whole), Some((day("2026-01-28"), day("2026-01-31"))));
        assert_eq!(february(&whole), Some((day("2026-02-01"), day("2026-02-03"))));
        let early = request(Some("2026-01-30"));
        assert_eq!(january(&early), Some((day("2026-01-28"), day("2026-01-29"))));
        assert_eq!(february(&early), None);
        assert_eq!(january(&request(Some("2026-01-28"))), None);
        // A return that is reported late does not make the leave longer.
        assert_eq!(request(Some("2026-03-01")).last_day(), day("2026-02-03"));
    }
}
