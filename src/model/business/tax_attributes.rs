//! Tax attributes by the day from which they apply.

use std::collections::BTreeMap;

use crate::model::prelude::*;

/// Tax attributes and the first day on which they apply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "DatedTaxAttributes")]
pub(crate) struct DatedTaxAttributes {
    /// The first day on which the values apply. A payslip shows the values in force on its pay date.
    pub(crate) effective_from: Date,
    /// All values from that day on.
    pub(crate) values: Arc<BTreeMap<String, String>>,
}
