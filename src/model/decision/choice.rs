//! The types of decisions: a decision is a question to the outside world, with possible answers.

use crate::model::Kind;
use crate::model::payments::{Late, Scope};

/// One decision of the outside world.
pub(crate) struct Decision {
    /// The name used in scenario rows and the `Sandbox-Scenario` header, such as `payout.settle`.
    pub(crate) name: &'static str,
    /// What is decided, and by which party.
    pub(crate) about: &'static str,
    /// The kind of resource that it is about.
    pub(crate) subject: Kind,
    /// Related kinds that a selector may use, nearest first.
    pub(crate) related: &'static [Kind],
    /// The payments whose codes its choices accept.
    pub(crate) codes: Option<Scope>,
    /// Every choice; the first is the default.
    pub(crate) choices: &'static [Choice],
}

pub(crate) struct Choice {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// The reason of the default code of the payment's rail; none if the choice has no code.
    pub(crate) code: Option<&'static str>,
    /// The payments whose codes this choice accepts, if they differ from those of the decision.
    pub(crate) codes: Option<Scope>,
    /// Whether the money had arrived before.
    pub(crate) late: Late,
    /// What `after` changes; none if the choice has no delay.
    pub(crate) after: Option<&'static str>,
}

impl Decision {
    pub(crate) fn choice(&self, name: &str) -> Option<&'static Choice> {
        self.choices.iter().find(|choice| choice.name == name)
    }

    /// The payments whose codes the named choice accepts.
    pub(crate) fn codes_of(&self, choice: &str) -> Option<Scope> {
        self.choice(choice).and_then(|choice| choice.codes).or(self.codes)
    }
}

impl Choice {
    pub(super) const fn code(self, reason: &'static str) -> Self {
        Self { code: Some(reason), ..self }
    }

    pub(super) const fn of(self, codes: Scope) -> Self {
        Self { codes: Some(codes), ..self }
    }

    pub(super) const fn late(self) -> Self {
        Self { late: Late::Yes, ..self }
    }

    pub(super) const fn after(self, after: &'static str) -> Self {
        Self { after: Some(after), ..self }
    }
}

/// A choice without a code and without a delay.
pub(super) const fn choice(name: &'static str, about: &'static str) -> Choice {
    Choice { name, about, code: None, codes: None, late: Late::No, after: None }
}
