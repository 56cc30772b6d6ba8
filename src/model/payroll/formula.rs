//! From the formula of a line to its [`Operation`], each with the denominator of its result. `None` means that the pack's own constants
//! overflow, everywhere in this module.

use super::compile::Compiler;
use super::exact::{Ratio, Rounding, least_common_multiple};
use super::form::Form;
use super::plan::{Clamp, Linear, Operation, Row, Window};
use super::rule::{Arg, Band, Formula, Frame, Name, RuleLine};

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
                let over = *self.at(over);
                self.slice(line.per, *of, *self.at(rate), over, self.money(upto.as_ref()))
            }
            Formula::Taper { of, amount, rate, over } => {
                self.taper(line.per, *of, *self.at(amount), *self.at(rate), *self.at(over))
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
        let number = Ratio::whole(i128::from(number));
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

    /// Each band as (rate, c) of rate × base − c. A marginal table has c = Σ over the bands below
    /// of their width times the step in rate, which is what makes it continuous.
    fn rate_less_constant(&self, bands: &[Band], frame: Frame) -> Option<Vec<(Ratio, Ratio)>> {
        let mut rows = Vec::with_capacity(bands.len());
        let (mut rate_below, mut less) = (Ratio::ZERO, Ratio::ZERO);
        for band in bands {
            let step = band.rate.minus(rate_below)?;
            less = match band.less {
                Some(constant) => self.annual(constant, frame)?,
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
        frame: Frame,
        of: Name,
        rate: Ratio,
        over: i64,
        upto: Option<i64>,
    ) -> Option<(Operation, i128)> {
        let form = self.form(of, frame)?;
        let before = if frame == Frame::Ytd { Some(self.before(of)?) } else { None };
        let own = form.denominator(1)?;
        let below = before.as_ref().map_or(Some(own), |before| before.denominator(own))?;
        let edge = |number: i64| i128::from(number).checked_mul(below);
        let to = match upto {
            Some(upto) => Some(edge(upto)?),
            None => None,
        };
        let window = Window { from: edge(over)?, to, rate: rate.over(rate.denominator())? };
        let before = match before {
            Some(before) => Some(before.over(below)?),
            None => None,
        };
        let operation = Operation::Slice { of: form.over(below)?, before, window };
        Some((operation, below.checked_mul(rate.denominator())?))
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

/// The least common denominator of all.
fn common(mut fractions: impl Iterator<Item = Ratio>) -> Option<i128> {
    fractions.try_fold(1, |common, fraction| least_common_multiple(common, fraction.denominator()))
}
