//! The `manaka` command.
fn main() {}
