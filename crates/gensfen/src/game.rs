//! One game: where it begins, which moves are played, how it ends, and the records of it.

mod book;
mod choice;
mod dice;
mod play;

pub(crate) use book::Book;
pub(crate) use dice::{Dice, Purpose};
pub(crate) use play::{Played, Referee, Start};
