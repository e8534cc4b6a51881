//! A journal, line by line.

use std::io::{self, BufRead, BufReader, Read};

/// Reads whole lines, and stops where none is: what a kill left of a line, or what is too long to be one.
#[derive(Debug)]
pub struct Lines<R> {
    inner: BufReader<R>,
    line: Vec<u8>,
    longest: u64,
}

impl<R: Read> Lines<R> {
    /// Lines of up to so many bytes, their ends included.
    pub fn new(inner: R, longest: u64) -> Self {
        Self { inner: BufReader::new(inner), line: Vec::new(), longest }
    }

    /// The next line, with its end; `None` where there is none any more.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn next_line(&mut self) -> io::Result<Option<&[u8]>> {
        self.line.clear();
        self.inner.by_ref().take(self.longest).read_until(b'\n', &mut self.line)?;
        Ok((self.line.last() == Some(&b'\n')).then_some(&self.line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_line_and_one_that_is_too_long_end_a_journal() {
        for (text, whole) in [("", 0), ("a\nbc\n", 2), ("a\nbc", 1), ("a\nbcdef\n", 1), ("a\nbcde\n\n", 3)] {
            let mut lines = Lines::new(text.as_bytes(), 5);
            let mut read = Vec::new();
            while let Some(line) = lines.next_line().unwrap() {
                read.push(line.to_owned());
            }
            assert_eq!(read.len(), whole, "{text:?}");
            assert!(text.as_bytes().starts_with(&read.concat()));
        }
    }
}
