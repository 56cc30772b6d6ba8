//! Gross to net against published figures, the invariants of the law, and a second evaluator.

mod agreement;
mod cases;
mod invariants;
mod irregular;
mod law;
mod loader;
mod published;
mod reference;
mod subcommand;
mod wage_bases;
