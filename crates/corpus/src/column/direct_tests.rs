//! Pages made by hand, sound ones and damaged ones.

use super::*;
use crate::schema::Leaves;
use parquet::column::page::PageMetadata;
use parquet::errors::Result as ParquetResult;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::SchemaDescriptor;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

struct Pages(VecDeque<Page>);

impl Iterator for Pages {
    type Item = ParquetResult<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.pop_front().map(Ok)
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> ParquetResult<Option<Page>> {
        Ok(self.0.pop_front())
    }

    fn peek_next_page(&mut self) -> ParquetResult<Option<PageMetadata>> {
        Ok(None)
    }

    fn skip_next_page(&mut self) -> ParquetResult<()> {
        Ok(())
    }
}

fn leaves() -> Leaves {
    let schema = "message m { optional binary sfen; optional int32 side; required int64 ply; optional int32 cp; \
        optional int32 depth; optional group cand_move (LIST) { repeated group list { optional binary element; } } \
        optional group cand_cp (LIST) { repeated group list { optional int32 element; } } \
        optional binary move; optional int32 result; }";
    let schema = SchemaDescriptor::new(Arc::new(parse_message_type(schema).unwrap()));
    Leaves::find(Path::new("a"), &schema).unwrap()
}

/// A data page: levels as bit-packed bytes behind their lengths, then the values.
fn page(levels: u32, encoding: Encoding, parts: &[&[u8]], values: &[u8]) -> Page {
    let mut bytes = Vec::new();
    for part in parts {
        bytes.extend_from_slice(&u32::try_from(part.len()).unwrap().to_le_bytes());
        bytes.extend_from_slice(part);
    }
    bytes.extend_from_slice(values);
    Page::DataPage {
        buf: bytes.into(),
        num_values: levels,
        encoding,
        def_level_encoding: Encoding::RLE,
        rep_level_encoding: Encoding::RLE,
        statistics: None,
    }
}

fn dictionary(values: u32, bytes: &[u8]) -> Page {
    let buf = Bytes::copy_from_slice(bytes);
    Page::DictionaryPage { buf, num_values: values, encoding: Encoding::PLAIN, is_sorted: false }
}

fn pages(pages: Vec<Page>) -> Box<dyn PageReader> {
    Box::new(Pages(pages.into()))
}

fn ints(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// `cand_cp`, read `rows` rows at a time.
fn scores(given: Vec<Page>, steps: &[usize]) -> Result<Vec<Option<Vec<Option<i64>>>>, String> {
    let mut column = Direct::new(&leaves().cand_cp, pages(given), Int::<4>(Signedness::Signed));
    let mut out = crate::Rows::default();
    for &rows in steps {
        column.lists(rows, &mut out.cand_cp).map_err(|cause| format!("{cause:?}"))?;
        out.len += rows;
    }
    column.at_end().map_err(|cause| format!("{cause:?}"))?;
    let list = |row: crate::Row<'_>| row.cand_cp().map(|list| list.iter().collect());
    Ok(out.iter().map(list).collect())
}

#[test]
fn a_list_may_go_on_in_the_next_page() {
    // [1, 2 | 3], [4], and a run of levels that says so: rep 0 1 | 1 0, def 3 3 | 3 3.
    let given = || {
        vec![
            page(2, Encoding::PLAIN, &[&[3, 0b10], &[4, 3]], &ints(&[1, 2])),
            page(0, Encoding::PLAIN, &[&[], &[]], &[]),
            page(2, Encoding::PLAIN, &[&[3, 0b01], &[4, 3]], &ints(&[3, 4])),
        ]
    };
    let expected = vec![Some(vec![Some(1), Some(2), Some(3)]), Some(vec![Some(4)])];
    assert_eq!(scores(given(), &[2]), Ok(expected.clone()));
    assert_eq!(scores(given(), &[1, 1]), Ok(expected));
    assert!(scores(given(), &[1]).unwrap_err().contains("go on behind the last row"));
    assert!(scores(given(), &[3]).unwrap_err().contains("end before the last row"));
}

#[test]
fn nulls_and_empty_lists_are_told_apart() {
    // null, [], [null], [7, null, 8]: rep 0 0 0 0 1 1, def 0 1 2 3 2 3, two bits each.
    let given = vec![
        dictionary(2, &ints(&[7, 8])),
        page(
            6,
            Encoding::RLE_DICTIONARY,
            &[&[3, 0b11_0000], &[3, 0b1110_0100, 0b1110]],
            // One bit an index: 0, 1.
            &[1, 3, 0b10],
        ),
    ];
    let expected = vec![None, Some(vec![]), Some(vec![None]), Some(vec![Some(7), None, Some(8)])];
    assert_eq!(scores(given, &[3, 1]), Ok(expected));
}

#[test]
fn damaged_pages_are_errors() {
    let sound: [&[u8]; 2] = [&[4, 0], &[4, 3]];
    let plain = |parts: &[&[u8]], values: &[u8]| page(2, Encoding::PLAIN, parts, values);
    let cases: [(&str, Vec<Page>); 11] = [
        ("ends inside a value", vec![plain(&sound, &ints(&[1])[..3])]),
        ("ends inside a value", vec![plain(&[&[4, 0]], &[200, 0, 0, 0])]),
        ("contradict", vec![plain(&[&[2, 0], &[4, 3]], &ints(&[1, 2]))]),
        ("contradict", vec![plain(&[&[4, 0], &[2, 3]], &ints(&[1, 2]))]),
        // A first level that goes on with a row of which there is none, and a null list that goes on.
        ("contradict", vec![plain(&[&[4, 1], &[4, 3]], &ints(&[1, 2]))]),
        ("contradict", vec![plain(&[&[3, 0b10], &[4, 0]], &[])]),
        // An empty list that goes on with an element.
        ("contradict", vec![plain(&[&[3, 0b10], &[2, 1, 2, 3]], &ints(&[1]))]),
        ("dictionary that is not there", vec![page(2, Encoding::RLE_DICTIONARY, &sound, &[1, 4, 0])]),
        (
            "dictionary does not have",
            vec![dictionary(1, &ints(&[7])), page(2, Encoding::RLE_DICTIONARY, &sound, &[1, 4, 1])],
        ),
        (
            "more than 32 bits",
            vec![dictionary(1, &ints(&[7])), page(2, Encoding::RLE_DICTIONARY, &sound, &[33, 4, 1])],
        ),
        ("ends inside a value", vec![dictionary(2, &ints(&[7])), plain(&sound, &ints(&[1, 2]))]),
    ];
    for (text, given) in cases {
        let error = scores(given, &[2]).unwrap_err();
        assert!(error.contains(text), "{text}: {error}");
    }
    let other = page(2, Encoding::DELTA_BINARY_PACKED, &sound, &[]);
    assert!(scores(vec![other], &[2]).unwrap_err().contains("another encoding"));
}

#[test]
fn texts_of_a_large_dictionary_are_those_of_a_small_one() {
    let column = |texts: &[Vec<u8>]| {
        let bytes: Vec<u8> = texts
            .iter()
            .flat_map(|text| [&u32::try_from(text.len()).unwrap().to_le_bytes(), &text[..]].concat())
            .collect();
        let given = vec![
            dictionary(u32::try_from(texts.len()).unwrap(), &bytes),
            // Three rows, one of them null: def 1 0 1; indices 1, 0.
            page(3, Encoding::PLAIN_DICTIONARY, &[&[3, 0b101]], &[1, 3, 0b01]),
        ];
        let mut column = Direct::new(&leaves().sfen, pages(given), Text);
        let mut out = crate::Rows::default();
        column.flat(3, &mut out.sfen).unwrap();
        out.len = 3;
        out.iter().map(|row| row.sfen().map(<[u8]>::to_vec)).collect::<Vec<_>>()
    };
    let small = [b"one".to_vec(), b"two".to_vec()];
    assert_eq!(column(&small), [Some(small[1].clone()), None, Some(small[0].clone())]);
    // Beyond what batches have copies of, and beyond what is kept of a text.
    let large = [vec![b'x'; SHARED + 1], b"two".to_vec()];
    let kept = vec![b'x'; crate::MAX_SFEN_TEXT + 1];
    assert_eq!(column(&large), [Some(large[1].clone()), None, Some(kept.clone())]);
    let middle = [vec![b'x'; SHARED / 2], b"two".to_vec()];
    assert_eq!(column(&middle), [Some(middle[1].clone()), None, Some(kept)]);
}

#[test]
fn texts_of_a_dictionary_may_come_behind_plain_ones() {
    let text = |text: &[u8]| [&[u8::try_from(text.len()).unwrap(), 0, 0, 0], text].concat();
    let given = vec![
        dictionary(2, &[text(b"one"), text(b"two")].concat()),
        page(1, Encoding::PLAIN, &[&[2, 1]], &text(b"plain")),
        page(2, Encoding::RLE_DICTIONARY, &[&[4, 1]], &[1, 3, 0b01]),
        page(1, Encoding::PLAIN, &[&[2, 1]], &text(b"last")),
    ];
    let mut column = Direct::new(&leaves().sfen, pages(given), Text);
    let mut out = crate::Rows::default();
    column.flat(4, &mut out.sfen).unwrap();
    out.len = 4;
    let texts: Vec<_> = out.iter().map(|row| row.sfen().unwrap()).collect();
    assert_eq!(texts, [&b"plain"[..], b"two", b"one", b"last"]);
}

#[test]
fn integers_that_must_be_there_have_no_levels() {
    let values: Vec<u8> = [5i64, -1, i64::MIN].iter().flat_map(|value| value.to_le_bytes()).collect();
    for (signedness, expected) in
        [(Signedness::Signed, [5, -1, i64::MIN + 1]), (Signedness::Unsigned, [5, i64::MAX, i64::MAX])]
    {
        let given = vec![page(3, Encoding::PLAIN, &[], &values)];
        let mut column = Direct::new(&leaves().ply, pages(given), Int::<8>(signedness));
        let mut out = crate::Rows::default();
        column.flat(3, &mut out.ply).unwrap();
        out.len = 3;
        assert_eq!(out.iter().map(|row| row.ply().unwrap()).collect::<Vec<_>>(), expected);
        assert!(column.flat(1, &mut out.ply).is_err());
    }
}
