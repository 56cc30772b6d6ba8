//! The account of a payout's recipient: its number, its country, and the results chosen by reserved numbers.

use crate::api::business::payroll_payouts::Wages;
use crate::api::prelude::*;
use crate::model::business::PayrollItem;
use crate::model::decision::PAYOUT_SETTLE;
use crate::model::payments::{Payout, RailId, Scope};

/// The account number of a payout's recipient, if a call has set it: grown employees never have a reserved number.
pub(super) fn account_number(
    world: &World,
    payout: &Payout,
    wages: Option<&Wages>,
) -> Option<String> {
    if let Some(beneficiary) = payout.beneficiary_id {
        return Some(world.touched(beneficiary)?.account.number.clone());
    }
    let employee = world.touched(wages?.item.employee_id)?;
    Some(employee.payment_method.as_ref()?.account_of(payout.split).account_number.clone())
}

/// The reserved account numbers `99999999RR` choose the result of a payout.
pub(super) fn magic(account_number: &str, rail: RailId) -> Option<(DecisionAnswer, String)> {
    let choice = match account_number {
        "9999999900" => "paid",
        "9999999990" => "delayed",
        "9999999991" => "held_then_paid",
        "9999999992" => "held_then_rejected",
        "9999999998" => "rail_down",
        "9999999999" => "returned_late",
        _ => "returned",
    };
    let code = Scope::Payouts.magic_code(account_number);
    if choice == "returned" && code.is_none() {
        return None;
    }
    let answer = DecisionAnswer::on_rail(&PAYOUT_SETTLE, choice, rail, code.as_deref());
    Some((answer, format!("account {account_number}")))
}

/// The country of a payout's account.
pub(super) fn country_of_account(world: &World, payout: &Payout) -> Option<String> {
    if let Some(beneficiary) = payout.beneficiary_id {
        return Some(world.find(beneficiary)?.account.country.clone());
    }
    let item = world.find(Id::<PayrollItem>::from_bits(payout.source?.bits))?;
    Some(world.find(item.employee_id)?.country.clone())
}
