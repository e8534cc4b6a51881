//! How a long run says how far it is: libraries call, `cli` draws.

/// Receives the progress of a run; called from several threads.
pub trait Progress: Sync {
    /// A new phase begins. `total` counts `unit`s (records, rows, bytes) and is `None` where it cannot be known.
    fn phase(&self, name: &str, total: Option<u64>, unit: &str);
    /// `by` more units of the current phase are done.
    fn advance(&self, by: u64);
    /// Whether the run should stop as soon as it can do so cleanly.
    fn cancelled(&self) -> bool {
        false
    }
}

/// Reports to nobody.
impl Progress for () {
    fn phase(&self, _name: &str, _total: Option<u64>, _unit: &str) {}
    fn advance(&self, _by: u64) {}
}
