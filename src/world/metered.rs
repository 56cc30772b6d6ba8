//! The data for the platform fee of a month: the volume of each company and currency, and the
//! resource with which the fixed fee was charged.
//!
//! An amount counts from the moment at which its fee is charged, and no longer if that fee is refunded. These sums
//! follow from the log, so no digest contains them. Deliberately absent: the price (`api::payments::platform_fee`).

use imbl::OrdMap;
use serde::{Deserialize, Serialize};

use crate::model::AnyId;
use crate::value::{Currency, Period};

/// A company's months with a volume. A clone shares them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub(crate) struct Metered {
    volumes: OrdMap<(u64, Period, Currency), i64>,
    fixed: OrdMap<(u64, Period), AnyId>,
}

/// The serialised form: rows, because keys in JSON are texts.
#[derive(Serialize, Deserialize)]
struct Written {
    volumes: Vec<((u64, Period, Currency), i64)>,
    fixed: Vec<((u64, Period), AnyId)>,
}

impl From<Written> for Metered {
    fn from(written: Written) -> Self {
        Self {
            volumes: written.volumes.into_iter().collect(),
            fixed: written.fixed.into_iter().collect(),
        }
    }
}

impl From<Metered> for Written {
    fn from(metered: Metered) -> Self {
        Self {
            volumes: metered.volumes.into_iter().collect(),
            fixed: metered.fixed.into_iter().collect(),
        }
    }
}

impl Metered {
    pub(super) fn is_empty(&self) -> bool {
        self.volumes.is_empty() && self.fixed.is_empty()
    }

    pub(super) fn volume(&self, row: (u64, Period, Currency)) -> i64 {
        self.volumes.get(&row).copied().unwrap_or_default()
    }

    pub(super) fn fixed(&self, row: (u64, Period)) -> Option<AnyId> {
        self.fixed.get(&row).copied()
    }

    pub(super) fn set_volume(
        &mut self,
        row: (u64, Period, Currency),
        volume: Option<i64>,
    ) -> Option<i64> {
        match volume {
            Some(volume) => self.volumes.insert(row, volume),
            None => self.volumes.remove(&row),
        }
    }

    pub(super) fn set_fixed(&mut self, row: (u64, Period), source: Option<AnyId>) -> Option<AnyId> {
        match source {
            Some(source) => self.fixed.insert(row, source),
            None => self.fixed.remove(&row),
        }
    }
}
