//! The usual values of a pay: inputs at their defaults and bases of zero. A plan is compiled for them as constants,
//! so that a pay without a bonus does not calculate the tax on a bonus.

use super::plan::Layout;

/// One bit for each input at its default, each base that is zero in this pay, and each base that is also zero in the
/// year to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Usual(u128);

impl Usual {
    /// Assumes nothing.
    pub(super) const NOTHING: Self = Self(0);

    /// Sets the bits of the inputs that are missing or have their defaults.
    pub(super) fn inputs(layout: Layout, defaults: &[i64], given: &[i64]) -> Self {
        let first = 2 * layout.bases;
        let changed = given.iter().zip(defaults).enumerate().fold(
            0_u128,
            |changed, (at, (given, default))| {
                // A pack may have more inputs than bits: the others are never assumed.
                changed | u128::from(given != default) << (at & 127)
            },
        );
        let listed = ones(defaults.len().min(128_usize.saturating_sub(first)));
        Self((listed & !changed).checked_shl(bits(first)).unwrap_or(0))
    }

    /// Also sets the bits of the bases that are zero in the filled slots of a pay.
    pub(super) fn and_bases(mut self, layout: Layout, slots: &[i64]) -> Self {
        for base in 0..layout.bases.min(64) {
            let is_zero = slots[layout.now(base)] == 0;
            let is_never = is_zero && slots[layout.before(base)] == 0;
            self.0 |= u128::from(is_zero) << base;
            self.0 |= (u128::from(is_never) << base).checked_shl(bits(layout.bases)).unwrap_or(0);
        }
        self
    }

    pub(super) fn words(self) -> [u64; 2] {
        let word = |half: u128| u64::try_from(half & u128::from(u64::MAX)).unwrap_or(0);
        [word(self.0), word(self.0 >> 64)]
    }

    /// The constant in that slot, if it is known.
    pub(super) fn constant(self, layout: Layout, defaults: &[i64], slot: usize) -> Option<i128> {
        let before = layout.before(0);
        if slot < before + layout.bases {
            return self.has(slot).then_some(0);
        }
        let input = slot.checked_sub(layout.input(0)).filter(|_| slot < layout.end())?;
        let default = defaults.get(input)?;
        self.has(2 * layout.bases + input).then(|| i128::from(*default))
    }

    const fn has(self, bit: usize) -> bool {
        bit < 128 && self.0 >> bit & 1 == 1
    }
}

fn bits(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// A mask of the `count` lowest bits.
fn ones(count: usize) -> u128 {
    1_u128.checked_shl(bits(count)).map_or(u128::MAX, |next| next - 1)
}
