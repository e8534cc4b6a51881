//! What a file promises: its bytes by kpnet.md, read back as written, and a named error for anything else.

mod sample;

use manaka_kp::format::{FILE_BYTES, KP256, MAGIC, VERSION};
use manaka_kp::{Error, Net};
use sample::{Draw, NOISE};
use std::sync::LazyLock;

static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| NOISE.to_bytes());

fn broken(with: impl FnOnce(&mut Vec<u8>)) -> Error {
    let mut bytes = BYTES.clone();
    with(&mut bytes);
    Net::from_bytes(&bytes).unwrap_err()
}

/// Changes bytes and makes the checksum that of the changed ones.
fn forged(with: impl FnOnce(&mut Vec<u8>)) -> Result<Net, Error> {
    let mut bytes = BYTES.clone();
    with(&mut bytes);
    let end = bytes.len() - 8;
    let checksum = xxhash_rust::xxh3::xxh3_64(&bytes[..end]);
    bytes[end..].copy_from_slice(&checksum.to_le_bytes());
    Net::from_bytes(&bytes)
}

#[test]
fn what_is_written_is_read_back() {
    let net = Net::from_bytes(&BYTES).unwrap();
    assert_eq!(net.tensors(), NOISE.tensors());
    assert_eq!(net.hash(), NOISE.hash());
    assert_eq!(net.to_bytes(), *BYTES);
    assert_eq!(Net::read(BYTES.as_slice()).unwrap().hash(), NOISE.hash());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("net.kp");
    NOISE.save(&path).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), *BYTES);
    assert_eq!(Net::open(&path).unwrap().tensors(), NOISE.tensors());
    let mut written = Vec::new();
    NOISE.write(&mut written).unwrap();
    assert_eq!(written, *BYTES);
}

#[test]
fn every_part_lies_where_the_page_says() {
    // kpnet.md §2, by hand.
    assert_eq!(BYTES.len(), 1_074_380);
    assert_eq!(BYTES[..8], [b'M', b'K', b'K', b'P', 1, 0, 0, 0]);
    assert_eq!(BYTES[8..24], *b"KP\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    let i32_at = |at: usize| i32::from_le_bytes(BYTES[at..at + 4].try_into().unwrap());
    let i16_at = |at: usize| i16::from_le_bytes([BYTES[at], BYTES[at + 1]]);
    let i8_at = |at: usize| BYTES[at].cast_signed();
    let stated: Vec<i32> = (24..52).step_by(4).map(i32_at).collect();
    assert_eq!(stated, [1710, 256, 32, 64, 2187, 127, 64]);
    let net = NOISE.tensors();
    assert_eq!(i16_at(52), net.feature_biases.0[0]);
    assert_eq!(i16_at(52 + 2 * 255), net.feature_biases.0[255]);
    assert_eq!(i16_at(564), net.feature_weights[0].0[0]);
    assert_eq!(i16_at(564 + 2 * (256 * 1709 + 3)), net.feature_weights[1709].0[3]);
    assert_eq!(i32_at(876_084), net.hidden_biases[0]);
    assert_eq!(i32_at(876_084 + 4 * 95), net.hidden_biases[95]);
    assert_eq!(i8_at(876_468 + 512 * 7 + 300), net.hidden_weights[7].0[300]);
    assert_eq!(i32_at(925_620), net.value_bias);
    assert_eq!(i8_at(925_624 + 31), net.value_weights[31]);
    assert_eq!(i32_at(925_656 + 4 * 2186), net.policy_biases[2186]);
    assert_eq!(i8_at(934_404 + 64 * 2186 + 5), net.policy_weights[2186].0[5]);
    let checksum = u64::from_le_bytes(BYTES[1_074_372..].try_into().unwrap());
    assert_eq!(checksum, xxhash_rust::xxh3::xxh3_64(&BYTES[..1_074_372]));
    assert_eq!(NOISE.hash(), checksum);
}

#[test]
fn the_pages_table_holds_the_constants() {
    let page = include_str!("../../../docs/spec/kpnet.md");
    let number = |text: &str| text.replace(',', "").parse::<usize>().ok();
    // Rows of §2: offset, bytes; each begins where the last ended.
    let rows = page.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| ")?.split(" | ");
        Some((number(cells.next()?)?, number(cells.next()?)?, cells.next()?, cells.next()?))
    });
    let mut sizes = Vec::new();
    let mut tensors = Vec::new();
    let end = rows.fold(0, |end, (offset, bytes, kind, what)| {
        assert_eq!(offset, end);
        match what.rsplit_once(" = ") {
            Some((_, value)) if kind == "u32" => sizes.extend(number(value.trim_end_matches(" |"))),
            _ => tensors.push(bytes),
        }
        offset + bytes
    });
    assert_eq!(end, FILE_BYTES);
    let stated = KP256.stated().map(|(_, number)| usize::try_from(number).unwrap());
    assert_eq!(sizes, [&[usize::try_from(VERSION).unwrap()][..], &stated].concat());
    // Magic and name come before the tensors, the checksum behind.
    assert_eq!(tensors[2..10], KP256.tensor_bytes());
    assert!(page.contains(std::str::from_utf8(&MAGIC).unwrap()));
}

#[test]
fn another_beginning_is_refused() {
    let error = broken(|bytes| bytes[0] ^= 1);
    assert!(matches!(error, Error::Magic { found: [0x4C, b'K', b'K', b'P'] }), "{error}");
    let error = Net::from_bytes(b"PAR1 and more").unwrap_err();
    assert!(matches!(error, Error::Magic { .. }), "{error}");
    let error = forged(|bytes| bytes[4] = 2).unwrap_err();
    assert!(matches!(error, Error::Version { found: 2 }), "{error}");
    let error = forged(|bytes| bytes[8..14].copy_from_slice(b"HalfKP")).unwrap_err();
    assert_eq!(error.to_string(), "offset 8: the feature set is \"HalfKP\", and KP is read");
    let error = forged(|bytes| bytes[23] = 1).unwrap_err();
    assert!(matches!(error, Error::FeatureSet { .. }), "{error}");
}

#[test]
fn other_sizes_and_scales_are_refused() {
    for (number, (name, expected)) in KP256.stated().into_iter().enumerate() {
        let offset = 24 + 4 * number;
        let error = forged(|bytes| bytes[offset] ^= 1).unwrap_err();
        let Error::Size { offset: at, what, found, expected: right } = error else { panic!("{error}") };
        assert_eq!((at, what, found, right), (offset, name, expected ^ 1, expected));
    }
}

#[test]
fn a_cut_file_says_how_much_is_missing() {
    for (length, missing) in
        [(0, 52), (3, 49), (51, 1), (52, FILE_BYTES - 52), (FILE_BYTES - 1, 1), (876_084, 198_296)]
    {
        let error = Net::from_bytes(&BYTES[..length]).unwrap_err();
        let Error::Truncated { offset, missing: found } = error else { panic!("{length}: {error}") };
        assert_eq!((offset, found), (length, missing));
    }
}

#[test]
fn bytes_behind_the_network_are_refused_and_not_read() {
    let error = broken(|bytes| bytes.push(0));
    assert!(matches!(error, Error::Trailing { offset: FILE_BYTES }), "{error}");
    // A reader that never ends is left after one byte too many.
    let endless = std::io::Read::chain(BYTES.as_slice(), std::io::repeat(7));
    assert!(matches!(Net::read(endless), Err(Error::Trailing { offset: FILE_BYTES })));
}

#[test]
fn every_flipped_bit_is_found() {
    let mut draw = Draw(11);
    for _ in 0..200 {
        let (at, bit) = (draw.below(FILE_BYTES), draw.below(8));
        let error = broken(|bytes| bytes[at] ^= 1 << bit);
        assert_eq!(matches!(error, Error::Checksum { offset: 1_074_372, .. }), at >= 52, "{at}: {error}");
    }
    // With the checksum of its bytes, other numbers are another network.
    let other = forged(|bytes| bytes[925_620] ^= 1).unwrap();
    assert_ne!(other.hash(), NOISE.hash());
    assert_eq!(other.tensors().value_bias, NOISE.tensors().value_bias ^ 1);
}

#[test]
fn no_damage_makes_it_panic() {
    let mut draw = Draw(9);
    for _ in 0..3000 {
        let mut bytes = BYTES[..draw.below(60)].to_vec();
        bytes.extend((0..draw.below(300)).map(|_| draw.next().to_le_bytes()[0]));
        if !bytes.is_empty() {
            let at = draw.below(bytes.len());
            bytes[at] ^= 1 << draw.below(8);
        }
        assert!(Net::from_bytes(&bytes).is_err());
    }
}

#[test]
fn a_file_is_named_in_its_error() {
    let error = Net::open(std::path::Path::new("no/net.kp")).unwrap_err();
    assert!(error.to_string().starts_with("no/net.kp: "), "{error}");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("net.kp");
    std::fs::write(&path, b"MKKP").unwrap();
    let error = Net::open(&path).unwrap_err().to_string();
    assert!(error.ends_with("net.kp: offset 4: the file ends, 48 bytes are missing"), "{error}");
}

#[test]
fn the_embedded_network_is_whole() {
    let bytes = include_bytes!("../nets/kp256.kp");
    let net = Net::from_bytes(bytes).unwrap();
    assert_eq!((net.hash(), net.to_bytes()), (Net::embedded().hash(), bytes.to_vec()));
}
