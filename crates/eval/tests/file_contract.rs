//! What a file promises: its bytes by nnbin.md, read back as written, and a named error for anything else.

mod sample;

use manaka_eval::format::{
    ARCHITECTURE, FILE_BYTES, HASH, NETWORK_BYTES, NETWORK_HASH, TRANSFORMER_HASH, VERSION,
};
use manaka_eval::{Error, Net, Section};
use sample::{Draw, NOISE};
use std::sync::LazyLock;

static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| NOISE.to_bytes());
/// Where the feature transformer and the network begin.
const TRANSFORMER: usize = 12 + 178;
const NETWORK: usize = FILE_BYTES - NETWORK_BYTES;

fn broken(with: impl FnOnce(&mut Vec<u8>)) -> Error {
    let mut bytes = BYTES.clone();
    with(&mut bytes);
    Net::from_bytes(&bytes).unwrap_err()
}

#[test]
fn what_is_written_is_read_back() {
    assert_eq!(Net::from_bytes(&BYTES).unwrap(), *NOISE);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("nn.bin");
    NOISE.save(&path).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), *BYTES);
    assert_eq!(Net::open(&path).unwrap(), *NOISE);
}

#[test]
fn every_part_lies_where_the_page_says() {
    // nnbin.md §2, by hand.
    assert_eq!(BYTES.len(), 64_217_066);
    assert_eq!(BYTES[..12], [0x16, 0x2F, 0xF3, 0x7A, 0xEE, 0xA6, 0x5A, 0x3E, 178, 0, 0, 0]);
    assert_eq!(BYTES[12..190], *ARCHITECTURE.as_bytes());
    assert_eq!(BYTES[190..194], [0xB8, 0xD7, 0x69, 0x5D]);
    let i16_at = |at: usize| i16::from_le_bytes([BYTES[at], BYTES[at + 1]]);
    let i32_at = |at: usize| i32::from_le_bytes(BYTES[at..at + 4].try_into().unwrap());
    let i8_at = |at: usize| BYTES[at].cast_signed();
    assert_eq!(i16_at(194 + 2 * 255), NOISE.feature_biases[255]);
    assert_eq!(i16_at(706), NOISE.feature_weights()[0][0]);
    assert_eq!(i16_at(706 + 2 * (256 * 125_387 + 255)), NOISE.feature_weights()[125_387][255]);
    assert_eq!(BYTES[64_199_362..64_199_366], [0x56, 0x71, 0x33, 0x63]);
    assert_eq!(i32_at(64_199_366 + 4 * 31), NOISE.hidden1.biases[31]);
    assert_eq!(i8_at(64_199_494 + 512 * 7 + 300), NOISE.hidden1.weights[7][300]);
    assert_eq!(i32_at(64_215_878), NOISE.hidden2.biases[0]);
    assert_eq!(i8_at(64_216_006 + 32 * 9 + 4), NOISE.hidden2.weights[9][4]);
    assert_eq!(i32_at(64_217_030), NOISE.output.biases[0]);
    assert_eq!(i8_at(64_217_034 + 31), NOISE.output.weights[0][31]);
}

#[test]
fn the_pages_table_holds_the_constants() {
    let page = include_str!("../../../docs/spec/nnbin.md");
    for number in [VERSION, HASH, TRANSFORMER_HASH, NETWORK_HASH] {
        assert!(page.contains(&format!("0x{number:08X}")), "{number:#x}");
    }
    assert!(page.contains(ARCHITECTURE));
    // Rows of §2: offset, bytes; each begins where the last ended.
    let rows = page.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| ")?.split(" | ");
        let number = |text: &str| text.replace(',', "").parse::<usize>().ok();
        Some((number(cells.next()?)?, number(cells.next()?)?))
    });
    let end = rows.fold(0, |end, (offset, bytes)| {
        assert_eq!(offset, end);
        offset + bytes
    });
    assert_eq!(end, FILE_BYTES);
}

#[test]
fn another_version_is_refused() {
    let error = broken(|bytes| bytes[0] ^= 1);
    assert!(matches!(error, Error::Version { found: 0x7AF3_2F17 }), "{error}");
    let error = Net::from_bytes(b"PAR1 and more").unwrap_err();
    assert!(matches!(error, Error::Version { .. }), "{error}");
}

#[test]
fn hashes_of_other_architectures_are_refused() {
    for (at, of, hash) in [
        (4, Section::Header, HASH),
        (TRANSFORMER, Section::FeatureTransformer, TRANSFORMER_HASH),
        (NETWORK, Section::Network, NETWORK_HASH),
    ] {
        let error = broken(|bytes| bytes[at + 3] ^= 0x80);
        let Error::Hash { section, offset, found, expected } = error else { panic!("{error}") };
        assert_eq!((section, offset, found, expected), (of, at, hash ^ 0x8000_0000, hash));
    }
}

#[test]
fn texts_may_differ_and_must_be_texts() {
    let mut other = NOISE.clone();
    other.architecture = "Features=HalfKP(Friend)[…]".to_owned();
    assert_eq!(Net::from_bytes(&other.to_bytes()).unwrap(), other);
    let error = broken(|bytes| bytes[12 + 5] = 0xFF);
    assert!(matches!(error, Error::ArchitectureText { offset: 17 }), "{error}");
    let error = broken(|bytes| bytes[8..12].fill(0xFF));
    assert!(matches!(error, Error::ArchitectureLength { offset: 8, length: u32::MAX }), "{error}");
    // A length that is a bit off moves every hash behind it.
    let error = broken(|bytes| bytes[8] -= 1);
    assert!(
        matches!(error, Error::Hash { section: Section::FeatureTransformer, offset: 189, .. }),
        "{error}"
    );
}

#[test]
fn a_cut_file_names_the_section_it_ends_in() {
    for (length, of) in [
        (0, Section::Header),
        (3, Section::Header),
        (11, Section::Header),
        (189, Section::Header),
        (193, Section::FeatureTransformer),
        (NETWORK - 1, Section::FeatureTransformer),
        (NETWORK, Section::Network),
        (FILE_BYTES - 1, Section::Network),
    ] {
        let error = Net::from_bytes(&BYTES[..length]).unwrap_err();
        let Error::Truncated { section, offset, missing } = error else { panic!("{length}: {error}") };
        assert_eq!((section, offset), (of, length));
        assert!(missing > 0);
    }
}

#[test]
fn bytes_behind_the_network_are_refused() {
    let error = broken(|bytes| bytes.extend([1, 2, 3]));
    assert!(matches!(error, Error::Trailing { offset: FILE_BYTES, extra: 3 }), "{error}");
    assert_eq!(error.to_string(), "offset 64217066: 3 bytes behind the network");
}

#[test]
fn no_damage_makes_it_panic() {
    let mut draw = Draw(9);
    let ends = [0, 4, 12, 190, 194, NETWORK, NETWORK + 4, FILE_BYTES];
    for _ in 0..3000 {
        // A stranger's bytes, short or with a true beginning.
        let mut bytes = BYTES[..ends[draw.below(5)]].to_vec();
        bytes.extend((0..draw.below(300)).map(|_| draw.next().to_le_bytes()[0]));
        if !bytes.is_empty() && draw.below(2) == 0 {
            let at = draw.below(bytes.len());
            bytes[at] ^= 1 << draw.below(8);
        }
        assert!(Net::from_bytes(&bytes).is_err());
    }
    for _ in 0..40 {
        let length = ends[draw.below(8)].saturating_sub(draw.below(3));
        assert_eq!(Net::from_bytes(&BYTES[..length]).is_ok(), length == FILE_BYTES);
    }
}

#[test]
fn a_missing_file_is_named() {
    let error = Net::open(std::path::Path::new("no/nn.bin")).unwrap_err();
    assert!(error.to_string().starts_with("no/nn.bin: "), "{error}");
}
