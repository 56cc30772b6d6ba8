//! The amounts of micro-deposits, which the holder of an account reads on a statement.

use crate::api::payments::micro_deposits::amounts;
use crate::api::prelude::*;
use crate::model::payments::Beneficiary;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([Operation {
    path: "/_sandbox/beneficiaries/{beneficiary_id}/micro-deposits",
    summary: "Read the amounts of micro-deposits",
    description: "Returns the two amounts that `sendMicroDeposits` sent to the account of a \
        beneficiary. A real holder reads them on the bank statement.",
    ..operation!(read get_micro_deposits)
}]);

/// The amounts that arrive at an account.
#[derive(Serialize, JsonSchema)]
pub(crate) struct MicroDepositAmounts {
    /// The two amounts, in minor units of the account's currency.
    amounts: [i64; 2],
}

fn get_micro_deposits(
    world: &World,
    input: One<Beneficiary>,
) -> Result<Plain<MicroDepositAmounts>> {
    let beneficiary = world.get(input.id)?;
    if beneficiary.micro_deposits.is_none() {
        let detail = "no amounts were sent to its account";
        return Err(ApiError::new(ErrorCode::ResourceNotFound, detail).about(beneficiary.id));
    }
    Ok(Plain(MicroDepositAmounts { amounts: amounts(world, beneficiary.id) }))
}
