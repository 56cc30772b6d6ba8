//! The payer of a collection or a mandate, as a caller writes it.

use crate::api::prelude::*;
use crate::model::payments::CollectionPayer;
use crate::value::Email;

/// The payer.
#[derive(Default, Deserialize, JsonSchema)]
#[schemars(rename = "PayerInput")]
pub(crate) struct Payer {
    /// The name of the payer.
    pub(super) name: Option<Text<140>>,
    /// The e-mail address.
    pub(super) email: Option<Email>,
    /// The account number that the payer pays from. Reserved numbers choose the payer's behaviour.
    pub(super) account_number: Option<Text<34>>,
}

impl Payer {
    /// The payer as it is shown.
    pub(super) fn shown(self) -> CollectionPayer {
        CollectionPayer {
            name: self.name.map(Text::into_string),
            email: self.email.map(|email| email.as_str().to_owned()),
            account_number: self.account_number.map(Text::into_string),
        }
    }
}
