//! Sequential halving as a table: which visit count the next root action has to have (search.md §5.2).

/// Replaces `sequence` by the visit counts that the root's simulations look for: with `considered` actions,
/// simulation t goes to an action visited `sequence[t]` times so far.
///
/// With no more than one action the counts are 0, 1, 2 …: each simulation goes to it.
pub fn considered_visits(considered: u32, simulations: u32, sequence: &mut Vec<u32>) {
    sequence.clear();
    if considered <= 1 {
        sequence.extend(0..simulations);
        return;
    }
    let rounds = u64::from(u32::BITS - (considered - 1).leading_zeros()); // ⌈log2(considered)⌉
    let wanted = simulations as usize;
    let (mut left, mut level) = (considered, 0);
    while sequence.len() < wanted {
        let each = (u64::from(simulations) / (rounds * u64::from(left))).max(1);
        for _ in 0..each {
            // Those still considered have all been visited equally often.
            let room = wanted - sequence.len();
            sequence.extend(std::iter::repeat_n(level, room.min(left as usize)));
            level += 1;
            if sequence.len() == wanted {
                break;
            }
        }
        left = (left / 2).max(2);
    }
}
