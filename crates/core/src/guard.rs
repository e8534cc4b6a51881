//! A fence around decoders of others that panic on damaged data.
//!
//! The Parquet library indexes and asserts by what damaged pages say. A panic of it is an error of the file, never of
//! the program.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a foreign decoder; its panic comes back as text. Whatever it was working on must not be used again.
///
/// # Errors
/// The message of the panic.
pub fn foreign<T>(decode: impl FnOnce() -> T) -> Result<T, String> {
    let outer = GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(decode));
    GUARDED.set(outer);
    result.map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("the decoder gave up").to_owned()
    })
}

/// Whether this thread is inside [`foreign`]: a panic hook has nothing to say then, the error will be reported.
#[must_use]
pub fn is_guarded() -> bool {
    GUARDED.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_comes_back_as_text_and_the_guard_is_lifted() {
        assert_eq!(foreign(|| (is_guarded(), 7)), Ok((true, 7)));
        assert_eq!(foreign(|| -> u8 { panic!("page {}", 3) }), Err("page 3".to_owned()));
        assert!(!is_guarded());
    }
}
