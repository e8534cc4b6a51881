//! Paging through a file with keys.

use super::keys::{Key, Keys};
use super::screen::{Input, Screen};
use crate::exit::Outcome;
use crate::output::grouped;
use crate::progress::{Watch, is_stopping};
use anyhow::{Result, anyhow};
use manaka_core::select::Select;
use manaka_inspect::{Entry, Error, Notation, Viewer};

const HELP: &str = "\
n, space, right, down, enter   the next
p, b, left, up                 the one before
page down, page up             ten on, ten back
g                              go to a number
home, end                      the first, the last
/                              look for what meets conditions: /ply=16..46 mate
N                              the one before that meets them
f                              forget them
a                              kanji or letters
q, escape, ctrl-c              leave

With conditions, the next and the one before are those that meet them.

Any key goes back.";

/// Pages from a number on, or from the first behind it that meets the conditions, until it is left.
pub fn page(viewer: Viewer, start: u64, select: Select, notation: Notation) -> Result<Outcome> {
    let mut pager = Pager { viewer, at: 0, select, notation, entry: None, message: String::new() };
    // Before the screen is taken over: what is wrong is said where it stays.
    let first =
        if pager.select.is_all() { Some(start) } else { pager.viewer.find(&pager.select, start, &Watch)? };
    let unit = pager.viewer.format().unit();
    let at = first.ok_or_else(|| anyhow!("no {unit} from {start} on meets the conditions"))?;
    if !pager.go(at)? {
        return Err(anyhow!("there is no {unit} {at}: the file holds {}", pager.viewer.count()?));
    }
    let mut screen = Screen::open()?;
    let mut keys = Keys::default();
    while !is_stopping() {
        pager.draw(&mut screen)?;
        match next_key(&screen, &mut keys) {
            None => break,
            Some(key) => {
                if !pager.press(key, &mut screen, &mut keys) {
                    break;
                }
            }
        }
    }
    Ok(Outcome::Done)
}

/// Waits for a key; `None` when a signal came or the terminal is gone.
fn next_key(screen: &Screen, keys: &mut Keys) -> Option<Key> {
    loop {
        // Bytes of one key come at once.
        match screen.input(if keys.is_waiting() { 30 } else { 200 }) {
            Input::Byte(byte) => {
                if let Some(key) = keys.byte(byte) {
                    return Some(key);
                }
            }
            Input::Nothing => {
                if let Some(key) = keys.pause() {
                    return Some(key);
                }
                if is_stopping() {
                    return None;
                }
            }
            Input::End => return None,
        }
    }
}

struct Pager {
    viewer: Viewer,
    at: u64,
    select: Select,
    notation: Notation,
    entry: Option<Entry>,
    /// What the last key led to, when it is worth a word.
    message: String,
}

impl Pager {
    /// Goes to a number; `false` when there is nothing.
    fn go(&mut self, number: u64) -> Result<bool, Error> {
        let entry = self.viewer.show(number)?;
        let there = entry.is_some();
        if there {
            (self.at, self.entry) = (number, entry);
        }
        Ok(there)
    }

    fn draw(&mut self, screen: &mut Screen) -> Result<()> {
        let view = self.viewer.view(self.entry.clone().into_iter().collect(), self.notation);
        let of = self.viewer.known_count().map(|count| format!(" of {}", grouped(count))).unwrap_or_default();
        let unit = self.viewer.format().unit();
        let filter = if self.select.is_all() { "" } else { ", those that meet the conditions" };
        let status = format!(" {unit} {}{of}{filter}  (h: keys)  {} ", grouped(self.at), self.message);
        screen.show(&view.to_string(), &status)
    }

    /// Does what a key means; `false` when that is to leave.
    fn press(&mut self, key: Key, screen: &mut Screen, keys: &mut Keys) -> bool {
        self.message.clear();
        let result = match key {
            Key::Char('q') | Key::Escape | Key::Control('c' | 'd') => return false,
            Key::Char('n' | ' ') | Key::Right | Key::Down | Key::Enter => self.forward(),
            Key::Char('p' | 'b') | Key::Left | Key::Up => self.back(),
            Key::PageDown => self.jump(self.at.saturating_add(10)),
            Key::PageUp => self.jump(self.at.saturating_sub(10)),
            Key::Home => self.jump(0),
            Key::End => self.last(),
            Key::Char('N') => self.back(),
            Key::Char('f') => {
                self.select = Select::default();
                Ok(())
            }
            Key::Char('a') => {
                self.notation = match self.notation {
                    Notation::Kanji => Notation::Ascii,
                    Notation::Ascii => Notation::Kanji,
                };
                Ok(())
            }
            Key::Char('g') => match ask(screen, keys, "go to") {
                Some(text) => match text.trim().parse() {
                    Ok(number) => self.jump(number),
                    Err(_) => self.say(format!("{text:?} is no number")),
                },
                None => Ok(()),
            },
            Key::Char('/') => match ask(screen, keys, "conditions") {
                Some(text) => self.look_for(&text),
                None => Ok(()),
            },
            Key::Char('h' | '?') => {
                // A screen that fails here fails at the next draw as well.
                let _ = screen.show(HELP, " keys ");
                return next_key(screen, keys).is_some();
            }
            _ => Ok(()),
        };
        if let Err(error) = result {
            self.message = error.to_string();
        }
        true
    }

    fn say(&mut self, message: impl Into<String>) -> Result<(), Error> {
        self.message = message.into();
        Ok(())
    }

    fn jump(&mut self, number: u64) -> Result<(), Error> {
        if self.go(number)? { Ok(()) } else { self.say(format!("there is no {number}")) }
    }

    fn last(&mut self) -> Result<(), Error> {
        let count = self.viewer.count()?;
        self.jump(count.saturating_sub(1))
    }

    fn forward(&mut self) -> Result<(), Error> {
        let next = self.at.saturating_add(1);
        if self.select.is_all() {
            return if self.go(next)? { Ok(()) } else { self.say("this is the last") };
        }
        match self.viewer.find(&self.select, next, &Watch)? {
            Some(number) => self.jump(number),
            None => self.say("no further one meets the conditions"),
        }
    }

    fn back(&mut self) -> Result<(), Error> {
        if self.select.is_all() {
            return match self.at.checked_sub(1) {
                Some(number) => self.jump(number),
                None => self.say("this is the first"),
            };
        }
        match self.viewer.find_before(&self.select, self.at, &Watch)? {
            Some(number) => self.jump(number),
            None => self.say("none before this meets the conditions"),
        }
    }

    /// Takes conditions, and goes to the next that meets them; without a text, to the next that meets those there are.
    fn look_for(&mut self, text: &str) -> Result<(), Error> {
        let select: Select = match text.parse() {
            Ok(select) => select,
            Err(error) => return self.say(format!("{error}")),
        };
        let select = if select.is_all() { self.select.clone() } else { select };
        match self.viewer.find(&select, self.at.saturating_add(1), &Watch)? {
            Some(number) => {
                self.select = select;
                self.jump(number)
            }
            None => self.say("nothing from here on meets the conditions"),
        }
    }
}

/// Lets a line be typed on the last row; `None` when it was given up.
fn ask(screen: &mut Screen, keys: &mut Keys, what: &str) -> Option<String> {
    let mut line = String::new();
    loop {
        let (rows, _) = screen.size();
        screen.prompt(rows, &format!("{what}: {line}")).ok()?;
        match next_key(screen, keys)? {
            Key::Enter => return Some(line),
            Key::Escape | Key::Control('c') => return None,
            Key::Backspace => {
                line.pop();
            }
            Key::Control('u') => line.clear(),
            Key::Char(c) if !c.is_control() => line.push(c),
            _ => {}
        }
    }
}
