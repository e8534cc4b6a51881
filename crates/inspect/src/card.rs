//! The card of a dataset: what a publisher states about files, measured on the files (docs/guide/card.md).

mod conventions;
mod files;
mod front;
mod games;
mod generation;
mod layout;
mod lineage;
mod markdown;
mod place;
mod positions;
mod reading;
mod searches;
mod top;

pub use generation::MANIFESTS;
pub use place::Replace;

use crate::error::{Error, Result};
use crate::info::{Info, ShardInfo, info};
use crate::sniff::Kind;
use crate::stat::{Alarm, Stat, StatOptions, stat};
use files::{CardFile, Root};
use manaka_core::conventions::Conventions;
use manaka_core::progress::Progress;
use manaka_core::stream::{Header, StreamReader};
use manaka_corpus::psv::Layout;
use manaka_corpus::{PsvOptions, psv_layout};
use manaka_pack::shard::ShardReader;
use markdown::{Doc, Left, Right, blank, code, grouped, plain};
use std::fmt;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// What a card is told. Numbers are never told, they are measured.
#[derive(Clone, Debug)]
pub struct CardOptions {
    /// Threads. The text does not depend on it.
    pub threads: NonZeroUsize,
    /// What raw PSV does not say about itself, as far as it is known; the rest is found in a sample.
    pub psv: PsvOptions,
    /// What the dataset is called; a marked blank unless told.
    pub name: Option<String>,
    /// Its licence, by the name that hubs know it by; a marked blank unless told.
    pub license: Option<String>,
    /// The directory the card will lie in. Files are called by their paths from there when it holds them all, else by
    /// those from the deepest directory that does.
    pub root: Option<PathBuf>,
}

impl CardOptions {
    /// Everything that can be measured, and blanks.
    #[must_use]
    pub fn new(threads: NonZeroUsize) -> Self {
        Self { threads, psv: PsvOptions::default(), name: None, license: None, root: None }
    }

    /// The [`root`](Self::root) of a card that is to be written to this file.
    #[must_use]
    pub fn root_of(card: &Path) -> PathBuf {
        match card.parent() {
            Some(dir) if !dir.as_os_str().is_empty() => dir.to_owned(),
            _ => PathBuf::from("."),
        }
    }
}

/// A card in Markdown; `Display` gives its text, which ends with a line break.
#[derive(Clone, PartialEq, Debug)]
pub struct Card {
    text: String,
    alarms: Vec<Alarm>,
}

/// The beginning of a card's last line; the hash of everything in front of it follows.
const SEAL: &str = "<!-- manaka card ";
const SEAL_END: &str = " -->\n";

impl Card {
    fn sealed(mut text: String, alarms: Vec<Alarm>) -> Self {
        text.push('\n');
        let hash = xxh3_64(text.as_bytes());
        text.push_str(&format!("{SEAL}{hash:016x}{SEAL_END}"));
        Self { text, alarms }
    }

    /// The alarms that went off; they stand in the card.
    #[must_use]
    pub fn alarms(&self) -> &[Alarm] {
        &self.alarms
    }

    /// Whether a text is a card as it was written: nobody has changed a byte of it, so that it can be written anew.
    #[must_use]
    pub fn is_untouched(text: &[u8]) -> bool {
        let Some(rest) = text.strip_suffix(SEAL_END.as_bytes()) else { return false };
        let Some((rest, hash)) = rest.split_last_chunk::<16>() else { return false };
        let Some(body) = rest.strip_suffix(SEAL.as_bytes()) else { return false };
        format!("{:016x}", xxh3_64(body)).as_bytes() == hash
    }
}

impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Files of one kind, measured.
struct DataSet<'a> {
    kind: Kind,
    files: Vec<&'a CardFile>,
    stat: Stat,
    detail: Detail,
}

/// What files state about themselves.
enum Detail {
    Shard(Vec<ShardInfo>),
    Stream(Vec<Header>),
    Corpus,
    Psv(Layout),
}

impl DataSet<'_> {
    /// The records folded into shards: the sum of the weights.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count"
    )]
    fn folded(&self) -> Option<u64> {
        let weights = self.stat.weights.as_ref()?;
        Some((weights.mean * weights.count as f64).round() as u64)
    }

    /// `shard`, `stream`: what one file is called.
    const fn noun(&self) -> &'static str {
        match self.kind {
            Kind::Shard => "Parquet shard",
            Kind::Stream => "MPK1 stream",
            Kind::Corpus => "corpus Parquet file",
            Kind::Psv => "raw PSV file",
        }
    }

    const fn title(&self) -> &'static str {
        match self.kind {
            Kind::Shard => "Shards",
            Kind::Stream => "Streams",
            Kind::Corpus => "Corpus",
            Kind::Psv => "Raw records",
        }
    }

    fn conventions(&self) -> Result<Option<Conventions>> {
        let Some(path) = self.files.first().map(|file| file.path.as_path()) else { return Ok(None) };
        match &self.detail {
            Detail::Shard(_) => {
                let reader = ShardReader::open(path).map_err(|error| Error::shard(path, error))?;
                Ok(Some(reader.footer().conventions))
            }
            Detail::Stream(headers) => Ok(headers.first().map(|header| header.conventions)),
            Detail::Corpus | Detail::Psv(_) => Ok(None),
        }
    }
}

/// Measures files and writes their card. Files of several kinds (shards and the streams they were folded from) make one card
/// with a chapter each; those that state conventions have to state the same.
///
/// Every file is read twice: for its hash and for its figures. What lies beside the data is read too: `gensfen.json`,
/// `selfplay.json` and `LINEAGE.json` in the directories of the files and in [`CardOptions::root`].
///
/// # Errors
/// As [`stat`](crate::stat()); [`Error::Mixed`] also for kinds whose conventions differ; [`Error::Manifest`] and
/// [`Error::Lineage`] for a malformed report; [`Error::NoFiles`] without an input.
pub fn card(inputs: &[PathBuf], options: &CardOptions, progress: &dyn Progress) -> Result<Card> {
    if inputs.is_empty() {
        return Err(Error::NoFiles);
    }
    let root = Root::of(inputs, options.root.as_deref())?;
    let dirs = root.beside(inputs)?;
    // Before the long work: what is malformed is known at once.
    let manifests = generation::beside(&dirs, &root)?;
    let chain = lineage::beside(&dirs)?;
    let files = files::look(inputs, &root, progress)?;
    let mut sets = Vec::new();
    for kind in [Kind::Shard, Kind::Stream, Kind::Corpus, Kind::Psv] {
        let of: Vec<&CardFile> = files.iter().filter(|file| file.kind == kind).collect();
        if !of.is_empty() {
            sets.push(measure(kind, of, options, progress)?);
        }
    }
    let mut stated: Option<(&Path, Conventions)> = None;
    for set in &sets {
        let Some((conventions, file)) = set.conventions()?.zip(set.files.first()) else { continue };
        let (first, there) = *stated.get_or_insert((&file.path, conventions));
        if let Some(conflict) = there.conflict(&conventions) {
            let what = conflict.to_string();
            return Err(Error::Mixed { first: first.to_owned(), second: file.path.clone(), what });
        }
    }

    let records = sets.first().map_or(0, |set| set.stat.totals.records);
    let front = front::matter(options.name.as_deref(), options.license.as_deref(), &files, records);
    let mut doc = Doc::new(front);
    top::head(&mut doc, options, &sets);
    top::files(&mut doc, &sets);
    for set in &sets {
        if sets.len() > 1 {
            doc.deeper(0);
            doc.heading(2, set.title());
            doc.deeper(1);
        }
        chapter(&mut doc, set)?;
    }
    doc.deeper(0);
    generation::write(&mut doc, &manifests);
    lineage::write(&mut doc, &chain, &manifests, &sets);
    doc.heading(2, "License");
    doc.paragraph(&options.license.as_deref().map_or_else(|| blank("the license"), plain));
    Ok(Card::sealed(doc.finish(), sets.into_iter().flat_map(|set| set.stat.alarms).collect()))
}

fn measure<'a>(
    kind: Kind,
    files: Vec<&'a CardFile>,
    options: &CardOptions,
    progress: &dyn Progress,
) -> Result<DataSet<'a>> {
    let paths: Vec<PathBuf> = files.iter().map(|file| file.path.clone()).collect();
    let detail = match kind {
        Kind::Shard => {
            let infos = paths.iter().map(|path| match info(path)? {
                Info::Shard(info) => Ok(info),
                // It was a shard a moment ago.
                _ => Err(Error::Worker),
            });
            Detail::Shard(infos.collect::<Result<_>>()?)
        }
        Kind::Stream => {
            let header = |path: &PathBuf| {
                StreamReader::open(path)
                    .map(|reader| *reader.header())
                    .map_err(|error| Error::stream(path, error))
            };
            Detail::Stream(paths.iter().map(header).collect::<Result<_>>()?)
        }
        Kind::Corpus => Detail::Corpus,
        Kind::Psv => Detail::Psv(psv_layout(&paths, &options.psv).map_err(Error::psv)?),
    };
    let stat_options = StatOptions { threads: options.threads, psv: options.psv.clone() };
    let mut stat = stat(&paths, &stat_options, progress)?;
    rename(&mut stat, &files);
    Ok(DataSet { kind, files, stat, detail })
}

/// Calls the files by their names in the card: where they lie on this machine is nobody's business.
fn rename(stat: &mut Stat, files: &[&CardFile]) {
    let mut names: Vec<(String, &str)> =
        files.iter().map(|file| (file.path.display().to_string(), file.name.as_str())).collect();
    // A path that begins like another one is replaced before it.
    names.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
    for alarm in &mut stat.alarms {
        if let Some((path, name)) = names.iter().find(|(path, _)| alarm.message.contains(path)) {
            alarm.message = alarm.message.replacen(path, name, 1);
        }
    }
    for (part, file) in stat.parts.iter_mut().zip(files) {
        part.path = PathBuf::from(&file.name);
    }
    for path in stat.shuffle.iter_mut().filter_map(|figures| figures.path.as_mut()) {
        if let Some(file) = files.iter().find(|file| file.path == *path) {
            *path = PathBuf::from(&file.name);
        }
    }
}

fn chapter(doc: &mut Doc, set: &DataSet<'_>) -> Result<()> {
    let stat = &set.stat;
    let conventions = set.conventions()?;
    match (&set.detail, &conventions, &stat.stated) {
        (Detail::Shard(infos), Some(conventions), Some(stated)) => {
            layout::shard(doc, stat, conventions);
            conventions::shards(doc, infos, stated);
        }
        (Detail::Stream(headers), Some(conventions), Some(stated)) => {
            layout::stream(doc, conventions, headers);
            conventions::streams(doc, headers, stated);
        }
        (Detail::Psv(layout), ..) => {
            layout::raw(doc, *layout);
            conventions::unstated(doc);
        }
        _ => {
            layout::corpus(doc);
            conventions::unstated(doc);
        }
    }
    doc.heading(2, "Figures");
    refused(doc, stat);
    games::write(doc, stat);
    searches::write(doc, stat);
    positions::board(doc, stat);
    positions::duplicates(doc, stat);
    positions::columns(doc, stat);
    positions::alarms(doc, stat);
    positions::order(doc, stat);
    match (&set.detail, &conventions) {
        (Detail::Shard(_), _) => reading::shard(doc, &set.files),
        (Detail::Stream(_), Some(conventions)) => reading::stream(doc, &set.files, conventions),
        (Detail::Psv(layout), _) => reading::raw(doc, &set.files, *layout),
        _ => reading::corpus(doc, &set.files),
    }
    Ok(())
}

/// What is in no figure.
fn refused(doc: &mut Doc, stat: &Stat) {
    let unit = stat.unit();
    doc.paragraph(&format!(
        "Measured over all {} {unit}, not over a sample, unless said.",
        grouped(stat.totals.records)
    ));
    if stat.refused.is_empty() {
        return;
    }
    doc.paragraph(&format!("**These {unit} could not be read, and are in no figure:**"));
    let rows = stat.refused.iter().map(|(reason, count)| [code(reason), grouped(*count)]);
    doc.table([("reason", Left), (unit, Right)], rows);
}
