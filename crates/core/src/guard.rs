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

/// From now on the panic hook says nothing about a decoder that gave up inside [`foreign`]: its error will be reported.
/// Every other panic goes to the hook in place so far.
pub fn quiet_panics() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !GUARDED.get() {
            hook(panic);
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_comes_back_as_text_and_the_guard_is_lifted() {
        assert_eq!(foreign(|| (GUARDED.get(), 7)), Ok((true, 7)));
        assert_eq!(foreign(|| -> u8 { panic!("page {}", 3) }), Err("page 3".to_owned()));
        assert!(!GUARDED.get());
    }
}
