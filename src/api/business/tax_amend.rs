//! Amending a filing: a new filing replaces it, with adjustments.

use crate::api::prelude::*;
use crate::model::business::tax_filing::Adjustment;
use crate::model::business::{FilingLine, FilingStatus, TaxFiling};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([Operation {
    path: "/api/business/tax-filings/{tax_filing_id}/amend",
    summary: "Amend a tax filing",
    description: "Creates a new filing that replaces a filed or rejected filing, with the same \
        amounts or with adjustments. Earlier payments count for the new filing: its submission \
        pays only the additional amount. If the new amount is lower, the authority keeps the \
        difference as a credit, which the next filing to that authority uses. A difference in tax \
        on sales is repaid when the new filing is accepted, except in Kenya and Nigeria.",
    example: r#"{"reason":"The authority rejected the return"}"#,
    success: 201,
    errors: &[ErrorCode::InvalidStateTransition],
    emits: &["tax_filing.amended", "tax_filing.created"],
    long: true,
    ..operation!(write amend_tax_filing)
}]);

/// Maximum number of adjustments of one filing.
const MOST_ADJUSTMENTS: u64 = 50;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct AmendTaxFiling {
    /// The filing.
    tax_filing_id: Id<TaxFiling>,
    /// The reason, for the status history.
    reason: Text<500>,
    /// The changes to the declared amounts; none if absent.
    #[serde(default)]
    #[schemars(length(max = MOST_ADJUSTMENTS))]
    adjustments: Vec<AdjustmentInput>,
}

/// One change to a declared amount.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "TaxFilingAdjustmentInput")]
pub(crate) struct AdjustmentInput {
    /// The authority. Optional if the filing declares to only one.
    authority: Option<Text<32>>,
    /// Change in minor units, positive or negative; not 0. All changes together take back at most what is declared.
    #[schemars(range(min = -Amount::MAX, max = Amount::MAX))]
    amount: i64,
    /// The reason for the change.
    reason: Text<500>,
}

fn amend_tax_filing(world: &mut World, input: AmendTaxFiling) -> Result<Single<TaxFiling>> {
    let mut old = (*world.get(input.tax_filing_id)?).clone();
    let status = step("amend", "the filing", old.id, old.status)?;
    let mut lines = old.lines.clone();
    let adjustments = adjust(&old.lines, &mut lines, input.adjustments)?;
    let now = world.now();
    old.enter_because(status, now, Some(input.reason.into_string()));
    let old = world.record("tax_filing.amended", old);
    let new = TaxFiling {
        id: world.next_id(old.company_id.bits()),
        status: FilingStatus::Pending,
        amount: lines.iter().map(|line| line.amount).sum(),
        lines,
        amends: Some(old.id),
        adjustments,
        credit_used: 0,
        declaration: None,
        acknowledged_at: None,
        rejection_reason: None,
        created_at: now,
        updated_at: now,
        status_history: [StatusChange::plain(FilingStatus::Pending, now)].into(),
        ..(*old).clone()
    };
    for id in &new.tax_liability_ids {
        let mut liability = (*world.get(*id)?).clone();
        liability.tax_filing_id = Some(new.id);
        liability.updated_at = now;
        world.stage(liability);
    }
    Ok(Data(Shown(world.record("tax_filing.created", new))))
}

/// Amounts of a filing stay far below the limit of 64 bits, even after many amendments.
const MOST: i64 = i64::MAX / 1_000;

/// Changes the lines and records the changes, or refuses an invalid adjustment.
fn adjust(
    declared: &[FilingLine],
    lines: &mut [FilingLine],
    inputs: Vec<AdjustmentInput>,
) -> Result<Vec<Adjustment>> {
    let known: Vec<String> = lines.iter().map(|line| line.authority.clone()).collect();
    let mut adjustments = Vec::with_capacity(inputs.len());
    for (place, input) in inputs.into_iter().enumerate() {
        let at = |member: &str| format!("/adjustments/{place}/{member}");
        let only = known.first().filter(|_| known.len() == 1);
        let named = input.authority.map(Text::into_string);
        let authority = named.or_else(|| only.cloned()).ok_or_else(|| {
            let detail = format!(
                "the filing declares amounts to {}: give one of these authorities",
                known.join(", ")
            );
            ApiError::of_member(at("authority"), "required", detail)
        })?;
        let line = lines.iter_mut().find(|line| line.authority == authority);
        let line = line.ok_or_else(|| {
            let detail = format!("the filing declares amounts only to {}", known.join(", "));
            ApiError::of_member(at("authority"), "unknown_authority", detail)
        })?;
        if input.amount == 0 {
            let detail = "the amount must not be 0".to_owned();
            return Err(ApiError::of_member(at("amount"), "zero", detail));
        }
        let adjusted = line.amount.saturating_add(input.amount);
        if !(-MOST..=MOST).contains(&adjusted) {
            let detail = "the resulting amount is too large for a filing".to_owned();
            return Err(ApiError::of_member(at("amount"), "range", detail));
        }
        line.amount = adjusted;
        adjustments.push(Adjustment {
            authority,
            amount: input.amount,
            reason: input.reason.into_string(),
        });
    }
    not_below_zero(declared, lines, &adjustments)?;
    Ok(adjustments)
}

/// An amendment takes back at most what the filing declares. A filing that declares a credit already may not declare a larger one.
fn not_below_zero(
    declared: &[FilingLine],
    lines: &[FilingLine],
    adjustments: &[Adjustment],
) -> Result<()> {
    for (before, after) in declared.iter().zip(lines) {
        if after.amount >= before.amount.min(0) {
            continue;
        }
        let lowers = |it: &Adjustment| it.authority == after.authority && it.amount < 0;
        let place = adjustments.iter().rposition(lowers).unwrap_or_default();
        let detail = format!(
            "the filing declares {} to {}: an amendment cannot reduce the amount below 0",
            before.amount, before.authority
        );
        return Err(ApiError::of_member(
            format!("/adjustments/{place}/amount"),
            "below_zero",
            detail,
        ));
    }
    Ok(())
}
