//! The tables are whole, what grows from them is right by other code than grew it, and stays what it is.

mod data;
mod distinct;
mod grown;
mod known;
mod reference;
