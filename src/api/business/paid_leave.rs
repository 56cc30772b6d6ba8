//! The setting of paid leave, of a company or an employee.

use crate::api::prelude::*;
use crate::model::business::EmploymentType;
use crate::model::business::paid_leave::PaidLeave;

/// Paid leave that accrues.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct PaidLeaveInput {
    /// Working days a year; 0 ends the accrual.
    #[schemars(range(min = 0, max = 366))]
    days_per_year: i64,
    /// The first day of the accrual. Default: today. Days that accrued before this day are no longer counted: include them in
    /// `opening_hundredths`.
    accrues_from: Option<Date>,
    /// Days that employees had on that day, in hundredths of a day. Default: 0.
    #[serde(default)]
    #[schemars(range(min = 0, max = 100_000))]
    opening_hundredths: i64,
}

impl PaidLeaveInput {
    pub(crate) fn read(&self, today: Date) -> PaidLeave {
        PaidLeave {
            days_per_year: self.days_per_year,
            accrues_from: self.accrues_from.unwrap_or(today),
            opening_hundredths: self.opening_hundredths,
        }
    }

    /// The setting of an employee; contractors have none.
    pub(crate) fn of(&self, employment: EmploymentType, today: Date) -> Result<PaidLeave> {
        if employment == EmploymentType::Contractor {
            let detail = "a contractor has no paid leave".to_owned();
            return Err(ApiError::of_member("/paid_leave", "not_allowed", detail));
        }
        Ok(self.read(today))
    }
}
