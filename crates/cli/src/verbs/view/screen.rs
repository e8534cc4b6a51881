//! The terminal as a screen: keys come one by one, and what was there before comes back.

use anyhow::{Context, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use std::io::{self, Stdout, Write};

/// The other screen, no cursor, no wrapping of long lines.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l";
const LEAVE: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";

/// The terminal in raw mode. Dropping it, in a panic too, gives it back as it was.
pub struct Screen {
    before: Termios,
    out: Stdout,
}

/// What came from the keyboard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Input {
    Byte(u8),
    /// Nothing for a while.
    Nothing,
    /// The terminal is gone.
    End,
}

impl Screen {
    /// Takes the terminal over.
    pub fn open() -> Result<Self> {
        let before = tcgetattr(rustix::stdio::stdin()).context("terminal")?;
        let mut raw = before.clone();
        raw.make_raw();
        // Built first: what fails from here on is undone.
        let mut screen = Self { before, out: io::stdout() };
        tcsetattr(rustix::stdio::stdin(), OptionalActions::Flush, &raw).context("terminal")?;
        screen.write(ENTER)?;
        Ok(screen)
    }

    /// Waits for a byte, for so many milliseconds at most.
    pub fn input(&self, milliseconds: u16) -> Input {
        let stdin = rustix::stdio::stdin();
        let wait = Timespec { tv_sec: 0, tv_nsec: i64::from(milliseconds.min(999)) * 1_000_000 };
        let mut fds = [PollFd::from_borrowed_fd(stdin, PollFlags::IN)];
        match poll(&mut fds, Some(&wait)) {
            Ok(0) | Err(Errno::INTR) => return Input::Nothing,
            Ok(_) => {}
            Err(_) => return Input::End,
        }
        let mut byte = [0];
        match rustix::io::read(stdin, &mut byte) {
            Ok(0) => Input::End,
            Ok(_) => Input::Byte(byte[0]),
            Err(Errno::INTR | Errno::AGAIN) => Input::Nothing,
            Err(_) => Input::End,
        }
    }

    /// Rows and columns.
    pub fn size(&self) -> (usize, usize) {
        match tcgetwinsize(&self.out) {
            Ok(size) if size.ws_row > 0 => (size.ws_row.into(), size.ws_col.into()),
            _ => (24, 80),
        }
    }

    /// Shows a text and, on the last row, a line about it. What does not fit is left out, and said to be.
    pub fn show(&mut self, text: &str, status: &str) -> Result<()> {
        let (rows, _) = self.size();
        let room = rows.saturating_sub(1).max(1);
        let lines: Vec<&str> = text.lines().collect();
        let mut page = String::from("\x1b[H\x1b[2J");
        let shown = if lines.len() > room { room - 1 } else { lines.len() };
        for line in &lines[..shown] {
            page.push_str(line);
            page.push_str("\r\n");
        }
        if shown < lines.len() {
            page.push_str(&format!("… {} more lines", lines.len() - shown));
        }
        page.push_str(&format!("\x1b[{rows};1H\x1b[7m{status}\x1b[0m"));
        self.write(&page)
    }

    /// Writes what is being typed over the last row.
    pub fn prompt(&mut self, row: usize, text: &str) -> Result<()> {
        self.write(&format!("\x1b[{row};1H\x1b[2K{text}\x1b[7m \x1b[0m"))
    }

    fn write(&mut self, text: &str) -> Result<()> {
        self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush()).context("terminal")
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // There is nobody to tell if the terminal is gone.
        let _ = self.write(LEAVE);
        let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Flush, &self.before);
    }
}
