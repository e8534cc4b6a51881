//! `manaka view`: records and rows as a person reads them.

mod keys;
mod pager;
mod screen;

use super::conditions::Conditions;
use super::raw::RawLayout;
use crate::exit::{Outcome, Usage};
use crate::output::{Format, print, print_json};
use anyhow::{Result, anyhow};
use manaka_core::whole_file::{Existing, WholeFile};
use manaka_inspect::{Entry, Error, Notation, SCALE, Selection, View, Viewer, board_png, board_svg, view};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Show records or rows: the board, and the candidates with what was said about them.
///
/// On a terminal it pages, and `h` names the keys; elsewhere, and with --rows, it prints.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// A stream, a shard, a corpus or raw PSV.
    #[arg(value_name = "PATH")]
    path: PathBuf,

    /// The first row or record to show, counted from 0. With conditions the first that meets them from there on.
    #[arg(long, value_name = "N", default_value_t = 0, visible_alias = "record")]
    row: u64,

    /// Print so many and do not page; 1 unless given.
    #[arg(long, value_name = "N")]
    rows: Option<u64>,

    /// Draw boards with the letters of SFEN instead of kanji.
    #[arg(long)]
    ascii: bool,

    /// Also write the first board as a picture, as SVG or PNG by the name's ending.
    #[arg(long, value_name = "FILE")]
    image: Option<PathBuf>,

    /// How to print it.
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    conditions: Conditions,

    #[command(flatten)]
    raw: RawLayout,
}

/// What a picture is written as.
#[derive(Clone, Copy)]
enum Picture {
    Svg,
    Png,
}

impl Picture {
    fn of(path: &Path) -> Result<Self> {
        match path.extension().map(|ending| ending.to_ascii_lowercase()).as_deref().and_then(|e| e.to_str()) {
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            _ => Err(Usage(format!("{}: a picture ends in .svg or .png", path.display())).into()),
        }
    }
}

/// Runs the verb.
pub fn run(args: Args) -> Result<Outcome> {
    let notation = if args.ascii { Notation::Ascii } else { Notation::Kanji };
    let select = args.conditions.select()?;
    let psv = args.raw.options();
    // Before the file is looked through: a picture that cannot be written is known at once.
    let image = (args.image.as_deref())
        .map(|path| anyhow::Ok((Picture::of(path)?, WholeFile::create(path, Existing::Replace)?)))
        .transpose()?;
    let terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    if terminal && args.rows.is_none() && image.is_none() && args.format == Format::Text {
        let viewer = Viewer::open(&args.path, &psv).map_err(usage)?;
        return pager::page(viewer, args.row, select, notation).map_err(|error| match error.downcast() {
            Ok(error) => usage(error),
            Err(error) => error,
        });
    }
    let selection = Selection { start: args.row, count: args.rows.unwrap_or(1) };
    let view = view(&args.path, selection, &select, notation, &psv).map_err(usage)?;
    if let Some((picture, file)) = image {
        draw(&view, picture, file)?;
    }
    match args.format {
        Format::Text => print(view.to_string().trim_end())?,
        Format::Json => print_json(&view)?,
    }
    Ok(Outcome::Done)
}

/// Conditions that the file cannot answer are a mistake of the command line.
fn usage(error: Error) -> anyhow::Error {
    match error {
        Error::Select { .. } => Usage(error.to_string()).into(),
        error => error.into(),
    }
}

/// Writes the picture of the first board.
fn draw(view: &View, picture: Picture, mut file: WholeFile) -> Result<()> {
    let entry = view.entries.iter().find_map(|entry| match entry {
        Entry::Position(position) => Some(position),
        Entry::Faulty { .. } => None,
    });
    let position = entry.ok_or_else(|| anyhow!("there is no board to draw"))?;
    match picture {
        Picture::Svg => write!(file, "{}", board_svg(position.packed(), position.last()))?,
        Picture::Png => file.write_all(&board_png(position.packed(), position.last(), SCALE)?)?,
    }
    file.commit()?;
    Ok(())
}
