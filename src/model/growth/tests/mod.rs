//! Tests that the tables are complete, that independent code accepts the generated data, and that the data does not change.

mod data;
mod distinct;
mod grown;
mod known;
mod reference;
