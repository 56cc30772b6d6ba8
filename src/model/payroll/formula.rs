//! Compiles the formula of a line into its [`Operation`], with the denominator of the result. Everywhere in this
//! module, `None` means that the pack's own constants overflow.

use super::compile::Compiler;
use super::exact::{Ratio, Rounding, least_common_multiple};
use super::form::Form;
use super::plan::{Clamp, End, Linear, Operation, Row, Share, Window};
use super::rule::{Arg, Band, Bound, Formula, Frame, Name, RuleLine, Taken};

impl Compiler<'_> {
    /// What the line computes and the denominator of its result.
    pub(super) fn operation(&self, line: &RuleLine) -> Option<(Operation, i128)> {
        match &line.formula {
            Formula::Const { amount } => {
                let form = Form::constant(Ratio::whole(i128::from(*self.at(amount))));
                Some((Operation::Linear(form.over(1)?), 1))
            }
            Formula::Sum { args, rate } => {
                let sum = args.iter().try_fold(Form::constant(Ratio::ZERO), |sum, arg| {
                    sum.plus(self.arg(*arg, line.per)?)
                })?;
                let sum = sum.times(*self.at(rate))?;
                let denominator = sum.denominator(1)?;
                Some((Operation::Linear(sum.over(denominator)?), denominator))
            }
            Formula::Least { args } => {
                let (args, denominator) = self.comparable(args, line.per)?;
                Some((Operation::Least(args), denominator))
            }
            Formula::Greatest { args } => {
                let (args, denominator) = self.comparable(args, line.per)?;
                Some((Operation::Greatest(args), denominator))
            }
            Formula::Bands { of, bands, select, edge } => {
                let bands: &Vec<Band> = self.at(bands);
                self.bands(line.per, *of, bands, *select, *edge)
            }
            Formula::Slice { of, rate, over, upto } => {
                self.slice(line, *of, *self.at(rate), (over, upto.as_ref()))
            }
            Formula::Taper { of, amount, rate, over } => {
                self.taper(line.per, *of, *self.at(amount), *self.at(rate), *self.at(over))
            }
            Formula::Share { of, part, whole, round } => {
                let [of, part, whole] = [of, part, whole].map(|name| self.form(*name, line.per));
                let (of, part, whole) = (of?, part?, whole?);
                let (of_below, below) =
                    (of.denominator(1)?, whole.denominator(part.denominator(1)?)?);
                let share = Share {
                    of: of.over(of_below)?,
                    of_below,
                    part: part.over(below)?,
                    whole: whole.over(below)?,
                    round: *round,
                };
                Some((Operation::Share(Box::new(share)), 1))
            }
            Formula::Left { args, taken, rate } => {
                let taken = match taken {
                    Taken::Base(base) => self.layout().before(*base),
                    Taken::Role(role) => self.layout().taken(*role),
                };
                let less = self.read(taken, Ratio::whole(-1))?;
                let sum =
                    args.iter().try_fold(less, |sum, arg| sum.plus(self.arg(*arg, line.per)?))?;
                let sum = sum.times(*self.at(rate))?;
                let denominator = sum.denominator(1)?;
                Some((Operation::Linear(sum.over(denominator)?), denominator))
            }
        }
    }

    fn arg(&self, arg: Arg, frame: Frame) -> Option<Form> {
        match arg {
            Arg::Number(number) => Some(Form::constant(Ratio::whole(i128::from(number)))),
            Arg::Value { name, negative: false } => self.form(name, frame),
            Arg::Value { name, negative: true } => self.form(name, frame)?.times(Ratio::whole(-1)),
        }
    }

    /// Arguments over one denominator, so that they can be compared.
    fn comparable(&self, args: &[Arg], frame: Frame) -> Option<(Box<[Linear]>, i128)> {
        let forms = args.iter().map(|arg| self.arg(*arg, frame)).collect::<Option<Vec<Form>>>()?;
        let denominator = forms.iter().try_fold(1, |common, form| form.denominator(common))?;
        let args = forms.iter().map(|form| form.over(denominator)).collect::<Option<_>>()?;
        Some((args, denominator))
    }

    /// The numbers of a table are annual; to date, they are multiplied by the part of the year that has passed.
    fn annual(&self, number: i64, frame: Frame) -> Option<Ratio> {
        self.annual_ratio(Ratio::whole(i128::from(number)), frame)
    }

    fn annual_ratio(&self, number: Ratio, frame: Frame) -> Option<Ratio> {
        if frame == Frame::Ytd {
            number.times(self.conversion(Frame::Year, Frame::Ytd)?)
        } else {
            Some(number)
        }
    }

    fn bands(
        &self,
        frame: Frame,
        of: Name,
        bands: &[Band],
        select: Option<Name>,
        edge: Rounding,
    ) -> Option<(Operation, i128)> {
        let rows = self.rate_less_constant(bands, frame)?;
        let edge = |band: &Band| self.annual(band.from, frame)?.rounded(edge);
        let edges = bands.iter().map(edge).collect::<Option<Vec<Ratio>>>()?;
        let edges_below = common(edges.iter().copied())?;
        let base = self.form(of, frame)?;
        // The values compared with the edges share their denominator: the selecting value, or else the base itself.
        let (base_below, selecting, select_below) = if let Some(select) = select {
            let select = self.form(select, frame)?;
            let below = select.denominator(edges_below)?;
            (base.denominator(1)?, Some(select.over(below)?), below)
        } else {
            let below = base.denominator(edges_below)?;
            (below, None, below)
        };
        let rates_below = common(rows.iter().map(|(rate, _)| *rate))?;
        let product = base_below.checked_mul(rates_below)?;
        let below = least_common_multiple(product, common(rows.iter().map(|(_, less)| *less))?)?;
        let rate_unit = below / base_below;
        let row = |(&(rate, less), edge): (&(Ratio, Ratio), &Ratio)| {
            Some(Row {
                above: edge.over(select_below)?,
                rate: rate.over(rate_unit)?,
                less: less.over(below)?,
            })
        };
        let rows = rows.iter().zip(&edges).map(row).collect::<Option<_>>()?;
        Some((Operation::Bands { of: base.over(base_below)?, select: selecting, rows }, below))
    }

    /// Each band as (rate, c) of rate × base − c. For a marginal table, c is the sum, over this band and the lower
    /// ones, of the start of the band times its step in rate. This makes the tax continuous.
    fn rate_less_constant(&self, bands: &[Band], frame: Frame) -> Option<Vec<(Ratio, Ratio)>> {
        let mut rows = Vec::with_capacity(bands.len());
        let (mut rate_below, mut less) = (Ratio::ZERO, Ratio::ZERO);
        for band in bands {
            let step = band.rate.minus(rate_below)?;
            less = match band.less {
                Some(constant) => self.annual_ratio(constant, frame)?,
                None => less.plus(self.annual(band.from, frame)?.times(step)?)?,
            };
            rate_below = band.rate;
            rows.push((band.rate, less));
        }
        Some(rows)
    }

    /// In `ytd` the window belongs to the whole year: the year to date uses it up, and it is not scaled.
    fn slice(
        &self,
        line: &RuleLine,
        of: Name,
        rate: Ratio,
        (over, upto): (&Bound, Option<&Bound>),
    ) -> Option<(Operation, i128)> {
        let frame = line.per;
        let form = self.form(of, frame)?;
        // The window of a `ytd` slice belongs to the whole year.
        let window = if frame == Frame::Ytd { Frame::Year } else { frame };
        let from = self.bound(over, window)?;
        let to = match upto {
            Some(upto) => Some(self.bound(upto, window)?),
            None => None,
        };
        let is_addition = frame == Frame::Ytd && !self.catches_up(line);
        let before = if is_addition { Some(self.before(of)?) } else { None };
        let forms = [Some(&form), Some(&from), before.as_ref(), to.as_ref()];
        let below =
            forms.into_iter().flatten().try_fold(1, |common, form| form.denominator(common))?;
        let to = match to {
            Some(to) => Some(end(&to, below)?),
            None => None,
        };
        let rate_above = rate.over(rate.denominator())?;
        let window = Window { from: end(&from, below)?, to, rate: rate_above };
        let before = match before {
            Some(before) => Some(before.over(below)?),
            None => None,
        };
        let operation = Operation::Slice { of: form.over(below)?, before, window };
        Some((operation, below.checked_mul(rate.denominator())?))
    }

    /// Whether the line takes the amount still missing from the year's total, instead of the increase by this pay. A
    /// reversed pay releases the part of the annual limit that it had used.
    pub(super) fn catches_up(&self, line: &RuleLine) -> bool {
        let Formula::Slice { over, upto, .. } = &line.formula else { return false };
        let from_zero = matches!(over, Bound::Number(over) if *self.at(over) == 0);
        let is_of_year = line.per == Frame::Ytd && line.role.is_some() && !self.alone;
        self.case.taken_back && is_of_year && !(from_zero && upto.is_none())
    }

    fn bound(&self, bound: &Bound, frame: Frame) -> Option<Form> {
        match bound {
            Bound::Number(number) => {
                Some(Form::constant(Ratio::whole(i128::from(*self.at(number)))))
            }
            Bound::Value(name) => self.form(*name, frame),
        }
    }

    fn taper(
        &self,
        frame: Frame,
        of: Name,
        amount: i64,
        rate: Ratio,
        over: i64,
    ) -> Option<(Operation, i128)> {
        let form = self.form(of, frame)?;
        let (amount, over) = (self.annual(amount, frame)?, self.annual(over, frame)?);
        let below =
            form.denominator(least_common_multiple(amount.denominator(), over.denominator())?)?;
        let result_below = below.checked_mul(rate.denominator())?;
        let operation = Operation::Taper {
            of: form.over(below)?,
            amount: amount.over(result_below)?,
            rate: rate.over(rate.denominator())?,
            over: over.over(below)?,
        };
        Some((operation, result_below))
    }

    pub(super) fn clamp(&self, line: &RuleLine, denominator: i128) -> Option<Clamp> {
        let numerator = |number: Option<i64>| match number {
            Some(number) => i128::from(number).checked_mul(denominator).map(Some),
            None => Some(None),
        };
        Some(Clamp {
            min: numerator(self.money(line.min.as_ref()))?,
            max: numerator(self.money(line.max.as_ref()))?,
        })
    }
}

fn end(form: &Form, below: i128) -> Option<End> {
    let linear = form.over(below)?;
    Some(if linear.terms.is_empty() { End::Fixed(linear.constant) } else { End::Of(linear) })
}

/// The least common denominator of all.
fn common(mut fractions: impl Iterator<Item = Ratio>) -> Option<i128> {
    fractions.try_fold(1, |common, fraction| least_common_multiple(common, fraction.denominator()))
}
