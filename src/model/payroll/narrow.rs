//! The same plan with 64-bit constants, if all fit. It is several times faster. A pay that overflows it is calculated
//! with the wide plan.

use super::plan::{
    Cap, Clamp, End, Finish, Gate, Linear, Operation, Plan, Row, Share, Step, Taxable, Window,
};

/// A part of a plan in 64 bits; `None` if a constant does not fit.
pub(super) trait Narrow {
    type Narrowed;

    fn narrow(&self) -> Option<Self::Narrowed>;
}

impl Narrow for i128 {
    type Narrowed = i64;

    fn narrow(&self) -> Option<i64> {
        i64::try_from(*self).ok()
    }
}

impl Narrow for (usize, i128) {
    type Narrowed = (usize, i64);

    fn narrow(&self) -> Option<(usize, i64)> {
        Some((self.0, self.1.narrow()?))
    }
}

impl<T: Narrow> Narrow for Option<T> {
    type Narrowed = Option<T::Narrowed>;

    fn narrow(&self) -> Option<Self::Narrowed> {
        match self {
            Some(part) => part.narrow().map(Some),
            None => Some(None),
        }
    }
}

impl<T: Narrow> Narrow for Box<T> {
    type Narrowed = Box<T::Narrowed>;

    fn narrow(&self) -> Option<Self::Narrowed> {
        (**self).narrow().map(Box::new)
    }
}

impl<T: Narrow> Narrow for Box<[T]> {
    type Narrowed = Box<[T::Narrowed]>;

    fn narrow(&self) -> Option<Self::Narrowed> {
        self.iter().map(Narrow::narrow).collect()
    }
}

/// Narrows the members before the semicolon, and copies those after it.
macro_rules! narrow {
    ($($kind:ident { $($part:ident),* ; $($same:ident),* })+) => {$(
        impl Narrow for $kind {
            type Narrowed = $kind<i64>;

            fn narrow(&self) -> Option<$kind<i64>> {
                Some($kind { $($part: self.$part.narrow()?,)* $($same: self.$same),* })
            }
        }
    )+};
    // Of an enum: variants with one part, and variants with members.
    (enum $kind:ident { $($one:ident,)* ; $($variant:ident { $($part:ident),* ; $($same:ident),* })* }) => {
        impl Narrow for $kind {
            type Narrowed = $kind<i64>;

            fn narrow(&self) -> Option<$kind<i64>> {
                Some(match self {
                    $(Self::$one(part) => $kind::$one(part.narrow()?),)*
                    $(Self::$variant { $($part,)* $($same),* } => {
                        $kind::$variant { $($part: $part.narrow()?,)* $($same: *$same),* }
                    })*
                })
            }
        }
    };
}

narrow! {
    Plan { steps, taxable, shown; slots }
    Step { gate, operation, clamp, finish; line, slot }
    Linear { terms, constant; }
    Share { of, of_below, part, whole; round }
    Row { above, rate, less; }
    Window { from, to, rate; }
    Cap { of, rounder; }
    Clamp { min, max; }
    Taxable { of, rounder; cumulative }
}

narrow! { enum Gate { Any, All, Not, ; Over { of, limit; or_equal } } }
narrow! { enum End { Fixed, Of, ; } }
narrow! { enum Operation {
    Linear, Least, Greatest, Share, ;
    Bands { of, select, rows; }
    Slice { of, before, window; }
    Taper { of, amount, rate, over; }
} }
narrow! { enum Finish {
    ;
    Memo { rounder; to_date }
    Money { factor, rounder, unit, max_year, cap; role, taken, cumulative }
} }
