//! Every way there is to read a stream, told as one list of events, so that any two ways can be compared.
//!
//! The fuzz targets include this file too.
#![allow(dead_code, reason = "each test crate uses its own part")]

use manaka_core::stream::{
    Decoder, Error, Header, Kind, MappedStream, Record, RecordRef, SliceReader, Step, StreamReader, StreamSet,
};
use std::io::{self, Read};
use std::path::Path;

/// One thing a reader said.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// The header.
    Header(Header),
    /// A valid record, by its bytes.
    Record(Vec<u8>),
    /// An error, by its id and place.
    Fault(Fault),
}

/// An error as reports and vectors name it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    pub kind: &'static str,
    pub record: Option<u64>,
    pub offset: u64,
}

impl Fault {
    pub fn of(error: &Error) -> Self {
        Self { kind: error.kind.id(), record: error.record, offset: error.offset }
    }
}

/// The number of valid records among events.
pub fn records(events: &[Event]) -> usize {
    events.iter().filter(|event| matches!(event, Event::Record(_))).count()
}

/// The only error among events, which must be their end.
pub fn last_fault(events: &[Event]) -> Option<&Fault> {
    let faults = events.iter().filter(|event| matches!(event, Event::Fault(_))).count();
    match events.last() {
        Some(Event::Fault(fault)) => {
            assert_eq!(faults, 1, "{events:?}");
            Some(fault)
        }
        _ => {
            assert_eq!(faults, 0, "{events:?}");
            None
        }
    }
}

fn goes_on(error: &Error) -> bool {
    matches!(error.kind, Kind::Record(_))
}

/// The decoder, given the bytes up to one cut after another.
pub fn by_decoder(bytes: &[u8], cuts: impl IntoIterator<Item = usize>) -> Vec<Event> {
    let mut events = Vec::new();
    let mut decoder = Decoder::new();
    let mut cuts = cuts.into_iter();
    let mut have = 0;
    loop {
        let at = usize::try_from(decoder.offset()).unwrap();
        let rest = &bytes[at..have];
        match decoder.step(rest) {
            Ok(Step::Header(header)) => events.push(Event::Header(header)),
            Ok(Step::Record(record)) => {
                assert_eq!(decoder.offset(), (at + record.bytes().len()) as u64);
                events.push(Event::Record(record.bytes().to_vec()));
            }
            Ok(Step::NeedMore(need)) => {
                assert!(need > rest.len(), "the decoder asks for {need} of {} bytes", rest.len());
                if have == bytes.len() {
                    if let Err(error) = decoder.finish(rest) {
                        events.push(Event::Fault(Fault::of(&error)));
                    }
                    return events;
                }
                have = cuts.next().map_or(bytes.len(), |cut| cut.clamp(have, bytes.len()));
            }
            Err(error) => {
                events.push(Event::Fault(Fault::of(&error)));
                if !goes_on(&error) {
                    return events;
                }
            }
        }
    }
}

/// The reader of a slice.
pub fn by_slice(bytes: &[u8]) -> Vec<Event> {
    match SliceReader::new(bytes) {
        Ok(reader) => walk_slice(reader),
        Err(error) => vec![Event::Fault(Fault::of(&error))],
    }
}

/// The reader of a mapped file.
pub fn by_map(path: &Path) -> Vec<Event> {
    match MappedStream::open(path) {
        Ok(map) => walk_slice(map.records()),
        Err(error) => {
            assert_eq!(error.path.as_deref(), Some(path));
            vec![Event::Fault(Fault::of(&error))]
        }
    }
}

fn walk_slice(mut reader: SliceReader<'_>) -> Vec<Event> {
    let mut events = vec![Event::Header(*reader.header())];
    loop {
        let place = (reader.position(), reader.offset());
        match reader.next_ref() {
            Ok(Some(record)) => events.push(Event::Record(record.bytes().to_vec())),
            Ok(None) => break,
            Err(error) => {
                assert_eq!((error.record, error.offset), (Some(place.0), place.1));
                events.push(Event::Fault(Fault::of(&error)));
            }
        }
    }
    assert!(reader.next_ref().unwrap().is_none(), "a reader that ended stays at its end");
    events
}

/// The reader over any `Read`.
pub fn by_stream(source: impl Read) -> Vec<Event> {
    match StreamReader::new(source) {
        Ok(reader) => walk_stream(reader, None),
        Err(error) => vec![Event::Fault(Fault::of(&error))],
    }
}

/// The reader over any `Read`, opened by path.
pub fn by_file(path: &Path) -> Vec<Event> {
    match StreamReader::open(path) {
        Ok(reader) => walk_stream(reader, Some(path)),
        Err(error) => {
            assert_eq!(error.path.as_deref(), Some(path));
            vec![Event::Fault(Fault::of(&error))]
        }
    }
}

fn walk_stream<R: Read>(mut reader: StreamReader<R>, path: Option<&Path>) -> Vec<Event> {
    let mut events = vec![Event::Header(*reader.header())];
    loop {
        let place = (reader.position(), reader.offset());
        match reader.next_ref() {
            Ok(Some(record)) => events.push(Event::Record(record.bytes().to_vec())),
            Ok(None) => break,
            Err(error) => {
                assert_eq!((error.record, error.offset), (Some(place.0), place.1));
                assert_eq!(error.path.as_deref(), path);
                events.push(Event::Fault(Fault::of(&error)));
            }
        }
    }
    assert!(reader.next_ref().unwrap().is_none() && !reader.has_next().unwrap());
    events
}

/// The same reader through owned records, encoded again.
pub fn by_owned_records(source: impl Read) -> Vec<Event> {
    let reader = match StreamReader::new(source) {
        Ok(reader) => reader,
        Err(error) => return vec![Event::Fault(Fault::of(&error))],
    };
    let mut events = vec![Event::Header(*reader.header())];
    for record in reader.records() {
        events.push(match record {
            Ok(record) => Event::Record(encode(&record)),
            Err(error) => Event::Fault(Fault::of(&error)),
        });
    }
    events
}

/// The same reader through batches, judged behind it as its users do.
pub fn by_batches(source: impl Read) -> Vec<Event> {
    let mut reader = match StreamReader::new(source) {
        Ok(reader) => reader,
        Err(error) => return vec![Event::Fault(Fault::of(&error))],
    };
    let header = *reader.header();
    let mut events = vec![Event::Header(header)];
    let mut batch = vec![7; 5];
    let mut place = (reader.position(), reader.offset());
    loop {
        match reader.next_batch(&mut batch) {
            Ok(true) => assert!(!batch.is_empty()),
            Ok(false) => break,
            Err(error) => {
                assert_eq!((error.record, error.offset), (Some(place.0), place.1));
                events.push(Event::Fault(Fault::of(&error)));
                break;
            }
        }
        let mut rest = batch.as_slice();
        while !rest.is_empty() {
            let record = RecordRef::frame(rest).unwrap();
            let fault = |kind| Event::Fault(Fault { kind, record: Some(place.0), offset: place.1 });
            match record.validate(&header) {
                Ok(()) => events.push(Event::Record(record.bytes().to_vec())),
                Err(_) if rest.starts_with(b"MPK1") => {
                    events.push(fault("second_header"));
                    return events;
                }
                Err(wrong) => events.push(fault(wrong.id())),
            }
            rest = &rest[record.bytes().len()..];
            place = (place.0 + 1, place.1 + record.bytes().len() as u64);
        }
        assert_eq!((reader.position(), reader.offset()), place);
    }
    assert!(!reader.next_batch(&mut batch).unwrap() && batch.is_empty());
    events
}

/// A set of this one file.
pub fn by_set(path: &Path) -> Vec<Event> {
    let mut set = match StreamSet::open(vec![path.to_owned()]) {
        Ok(set) => set,
        Err(error) => return vec![Event::Fault(Fault::of(&error))],
    };
    let mut events = vec![Event::Header(*StreamReader::open(path).unwrap().header())];
    loop {
        match set.next_ref() {
            Ok(Some(record)) => events.push(Event::Record(record.bytes().to_vec())),
            Ok(None) => return events,
            Err(error) => {
                assert_eq!(error.path.as_deref(), Some(path));
                events.push(Event::Fault(Fault::of(&error)));
            }
        }
    }
}

/// Reads raw bytes in every way, through `path` where a way needs a file, and demands the same events of all.
pub fn in_every_way(bytes: &[u8], path: &Path) -> Vec<Event> {
    let events = by_decoder(bytes, [bytes.len()]);
    // Every error but a record's is the end.
    for (i, event) in events.iter().enumerate() {
        if let Event::Fault(fault) = event
            && i + 1 < events.len()
        {
            assert!(fault.record.is_some(), "events behind {fault:?}");
        }
    }
    std::fs::write(path, bytes).unwrap();
    let compressed = frames(bytes, 1000);
    assert_eq!(by_decoder(bytes, 0..), events, "decoder, byte by byte");
    assert_eq!(by_slice(bytes), events, "slice");
    assert_eq!(by_map(path), events, "mapped file");
    assert_eq!(by_stream(bytes), events, "stream");
    assert_eq!(by_stream(OneByte(bytes)), events, "stream of single bytes");
    assert_eq!(by_file(path), events, "stream of a file");
    assert_eq!(by_owned_records(bytes), events, "owned records");
    assert_eq!(by_batches(bytes), events, "batches");
    assert_eq!(by_batches(OneByte(bytes)), events, "batches of single bytes");
    assert_eq!(by_set(path), events, "set of one");
    assert_eq!(by_stream(&compressed[..]), events, "zstd");
    assert_eq!(by_stream(OneByte(&compressed)), events, "zstd of single bytes");
    assert_eq!(by_batches(&compressed[..]), events, "batches of zstd");
    events
}

/// The bytes of a record.
pub fn encode(record: &Record) -> Vec<u8> {
    let mut bytes = Vec::new();
    record.encode(&mut bytes).unwrap();
    assert_eq!(RecordRef::frame(&bytes).unwrap().bytes(), bytes);
    bytes
}

/// One zstd frame with a checksum, as parts have it.
pub fn frame(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    io::copy(&mut &*bytes, &mut encoder).unwrap();
    encoder.finish().unwrap()
}

/// As many frames as it takes to hold `step` bytes each; at least one.
pub fn frames(bytes: &[u8], step: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for chunk in bytes.chunks(step) {
        out.extend(frame(chunk));
    }
    if out.is_empty() { frame(bytes) } else { out }
}

/// A `Read` that gives one byte at a time.
pub struct OneByte<'a>(pub &'a [u8]);

impl Read for OneByte<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let len = buf.len().min(1);
        self.0.read(&mut buf[..len])
    }
}
