//! From bytes of a terminal to keys.

/// A key that was pressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Key {
    Char(char),
    Enter,
    Backspace,
    Escape,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    /// Ctrl and a letter, in lower case.
    Control(char),
    /// One that has no meaning here.
    Other,
}

/// Puts bytes together until they are a key.
#[derive(Default, Debug)]
pub struct Keys {
    held: Vec<u8>,
}

impl Keys {
    /// Whether bytes wait for more of their key.
    pub const fn is_waiting(&self) -> bool {
        !self.held.is_empty()
    }

    /// Takes a byte; a key when it was its last one.
    pub fn byte(&mut self, byte: u8) -> Option<Key> {
        self.held.push(byte);
        let key = match *self.held.as_slice() {
            [b'\r' | b'\n'] => Key::Enter,
            [0x7f | 0x08] => Key::Backspace,
            [0x1b] | [0x1b, b'[' | b'O'] => return None,
            [0x1b, b'[', .., last] | [0x1b, b'O', last] => match last {
                b'A' => Key::Up,
                b'B' => Key::Down,
                b'C' => Key::Right,
                b'D' => Key::Left,
                b'H' => Key::Home,
                b'F' => Key::End,
                b'~' => match self.held[2] {
                    b'1' | b'7' => Key::Home,
                    b'4' | b'8' => Key::End,
                    b'5' => Key::PageUp,
                    b'6' => Key::PageDown,
                    _ => Key::Other,
                },
                // Parameters go on; nothing real is this long.
                b'0'..=b'?' if self.held.len() < 16 => return None,
                _ => Key::Other,
            },
            [0x1b, _] => Key::Other,
            [control @ 1..=26] => Key::Control(char::from(b'a' + control - 1)),
            [0..=0x1f] => Key::Other,
            [..] => match str::from_utf8(&self.held) {
                Ok(text) => text.chars().next().map_or(Key::Other, Key::Char),
                Err(error) if error.error_len().is_none() => return None,
                Err(_) => Key::Other,
            },
        };
        self.held.clear();
        Some(key)
    }

    /// No more bytes came: an escape alone is the key of that name.
    pub fn pause(&mut self) -> Option<Key> {
        let held = std::mem::take(&mut self.held);
        match held.as_slice() {
            [] => None,
            [0x1b] => Some(Key::Escape),
            _ => Some(Key::Other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(bytes: &[u8]) -> Vec<Key> {
        let mut keys = Keys::default();
        let mut found: Vec<Key> = bytes.iter().filter_map(|&byte| keys.byte(byte)).collect();
        found.extend(keys.pause());
        found
    }

    #[test]
    fn bytes_of_a_terminal_are_keys() {
        use Key::*;
        assert_eq!(keys(b"n \r"), [Char('n'), Char(' '), Enter]);
        assert_eq!(keys("歩p".as_bytes()), [Char('歩'), Char('p')]);
        assert_eq!(keys(b"\x1b[A\x1b[B\x1bOC\x1b[D"), [Up, Down, Right, Left]);
        assert_eq!(keys(b"\x1b[5~\x1b[6~\x1b[1~\x1b[F"), [PageUp, PageDown, Home, End]);
        assert_eq!(keys(b"\x1b[1;5Cx"), [Right, Char('x')]);
        assert_eq!(keys(b"\x03\x7f\x1b"), [Control('c'), Backspace, Escape]);
        assert_eq!(keys(b"\x1b[200~"), [Other]);
        assert_eq!(keys(b"\xffq"), [Other, Char('q')]);
        assert_eq!(keys(b"\x1bq\x00"), [Other, Other]);
    }
}
