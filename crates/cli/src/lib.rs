//! The `manaka` command.
