//! Where a game begins in a stream that keeps games in order (stream.md §3.1). There is no other home for the rule.

/// Whether a record opens a game, behind a record of the ply `before`: exactly when its own is not above that. The first
/// record of a set opens one too.
///
/// Two games of which the second opens above the last ply of the first cannot be told apart.
#[must_use]
#[inline]
pub const fn opens_game(before: u16, ply: u16) -> bool {
    ply <= before
}
