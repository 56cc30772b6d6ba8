//! Makes a plan shorter: a step that is equal for every pay becomes a constant, and a repeated step uses the slot of
//! the earlier one. Steps without readers are removed.

use super::plan::{End, Finish, Gate, Linear, Operation, Step, Taxable};

impl Gate {
    fn linears<'a>(&'a self, found: &mut Vec<&'a Linear>) {
        match self {
            Self::Over { of, .. } => found.push(of),
            Self::Any(parts) | Self::All(parts) => {
                parts.iter().for_each(|part| part.linears(found));
            }
            Self::Not(part) => part.linears(found),
        }
    }
}

impl Operation {
    fn linears<'a>(&'a self, found: &mut Vec<&'a Linear>) {
        match self {
            Self::Linear(of) | Self::Taper { of, .. } => found.push(of),
            Self::Least(args) | Self::Greatest(args) => found.extend(args),
            Self::Bands { of, select, .. } => found.extend([of].into_iter().chain(select)),
            Self::Slice { of, before, window } => {
                found.extend([of].into_iter().chain(before));
                for end in [Some(&window.from), window.to.as_ref()].into_iter().flatten() {
                    if let End::Of(linear) = end {
                        found.push(linear);
                    }
                }
            }
            Self::Share(share) => found.extend([&share.of, &share.part, &share.whole]),
        }
    }
}

impl Step {
    /// All values that the step reads.
    fn linears(&self) -> Vec<&Linear> {
        let mut found = Vec::new();
        if let Some(gate) = &self.gate {
            gate.linears(&mut found);
        }
        self.operation.linears(&mut found);
        if let Finish::Money { cap: Some(cap), .. } = &self.finish {
            found.push(&cap.of);
        }
        found
    }

    /// Whether the step has the same result for every pay of its case.
    pub(super) fn is_constant(&self) -> bool {
        self.linears().iter().all(|linear| linear.terms.is_empty())
    }

    /// Whether both are memos with the same value.
    pub(super) fn repeats(&self, earlier: &Self) -> bool {
        let (
            Finish::Memo { rounder, to_date },
            Finish::Memo { rounder: of_earlier, to_date: earlier_to_date },
        ) = (&self.finish, &earlier.finish)
        else {
            return false;
        };
        (rounder, to_date.is_some()) == (of_earlier, earlier_to_date.is_some())
            && self.operation == earlier.operation
            && self.clamp == earlier.clamp
            && self.gate == earlier.gate
    }

    fn is_read(&self, used: &[bool]) -> bool {
        match self.finish {
            Finish::Money { .. } => true,
            Finish::Memo { to_date, .. } => {
                used[self.slot] || to_date.is_some_and(|slot| used[slot])
            }
        }
    }
}

/// The steps whose results are money, or are needed by such steps or by `results`.
pub(super) fn only_read<'a>(
    steps: Vec<Step>,
    slots: usize,
    results: impl Iterator<Item = &'a Taxable>,
) -> Box<[Step]> {
    let mut used = vec![false; slots];
    let mark = |used: &mut Vec<bool>, linear: &Linear| {
        linear.terms.iter().for_each(|(slot, _)| used[*slot] = true);
    };
    results.for_each(|result| mark(&mut used, &result.of));
    let mut kept = Vec::with_capacity(steps.len());
    for step in steps.into_iter().rev() {
        if step.is_read(&used) {
            step.linears().into_iter().for_each(|linear| mark(&mut used, linear));
            kept.push(step);
        }
    }
    kept.reverse();
    kept.into()
}
