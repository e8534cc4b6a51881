//! The tables of what positions are: the board, what comes again, what it costs to store, the order of rows, the alarms.

use super::games::{of, pairs, spreads_to};
use super::markdown::{
    Doc, Left, Right, code, counted, figure, figure_or_dash, grouped, plain, signed_or_dash,
};
use crate::info::ColumnInfo;
use crate::report::ShuffleFigures;
use crate::stat::{ALARMS, DuplicateFigures, Stat, percent, ratio, share};

/// The board.
pub fn board(doc: &mut Doc, stat: &Stat) {
    let (board, all) = (&stat.board, stat.totals.records);
    if all == 0 {
        return;
    }
    doc.heading(3, "Board");
    pairs(
        doc,
        vec![
            ("Black to move", of(board.black_to_move, all)),
            ("Black's king on ranks 8 and 9", share(Some(board.black_king_home))),
            ("White's king on ranks 1 and 2", share(Some(board.white_king_home))),
            ("unpromoted pawns on their last rank", grouped(board.dead_pawns)),
        ],
    );
    let head = [
        ("share on rank", Left),
        ("1", Right),
        ("2", Right),
        ("3", Right),
        ("4", Right),
        ("5", Right),
        ("6", Right),
        ("7", Right),
        ("8", Right),
        ("9", Right),
    ];
    let rows = [
        ("Black's king", board.black_king_ranks),
        ("White's king", board.white_king_ranks),
        ("Black's pawns", board.black_pawn_ranks),
        ("White's pawns", board.white_pawn_ranks),
    ]
    .map(|(name, ranks)| {
        let [a, b, c, d, e, f, g, h, i] = ranks.map(|share| format!("{:.2}%", share * 100.0));
        [name.to_owned(), a, b, c, d, e, f, g, h, i]
    });
    doc.table(head, rows);
}

/// Positions that come again, and the weights of rows.
pub fn duplicates(doc: &mut Doc, stat: &Stat) {
    if let Some(weights) = &stat.weights {
        doc.heading(3, "Weights");
        doc.paragraph("`weight` is the number of records that were folded into a row.");
        spreads_to(doc, &[("weight", weights)], 4);
        let DuplicateFigures { exact, records, positions, .. } = stat.duplicates;
        if exact && records == positions {
            doc.paragraph(&format!(
                "All {} are different positions, so no cut of them puts one position on both sides.",
                counted(records, "row")
            ));
            return;
        }
    }
    doc.heading(3, "Duplicates");
    let DuplicateFigures { exact, one_in, records, positions, share: away, error, most } = stat.duplicates;
    let mut rows = Vec::new();
    if exact {
        rows.push(("different positions", format!("{} of {}", grouped(positions), grouped(records))));
        rows.push(("a fold takes away", share(Some(away))));
    } else {
        doc.paragraph(&format!(
            "Estimated: every occurrence of the positions whose hash falls into one range in {} was counted.",
            grouped(one_in)
        ));
        rows.push((
            "different positions in the range",
            format!("{} of {}", grouped(positions), grouped(records)),
        ));
        rows.push(("a fold takes away", format!("{} ± {:.2}%", share(Some(away)), error * 100.0)));
    }
    rows.push(("the most frequent position came, times", grouped(most)));
    pairs(doc, rows);
}

/// What each column takes.
pub fn columns(doc: &mut Doc, stat: &Stat) {
    if stat.columns.is_empty() {
        return;
    }
    doc.heading(3, "Bytes a row");
    let head = [
        ("column", Left),
        ("bytes", Right),
        ("a row", Right),
        ("share", Right),
        ("before compression", Right),
        ("encodings", Left),
        ("compression", Left),
    ];
    let all: u64 = stat.totals.bytes;
    let columns: u64 = stat.columns.iter().map(|column| column.compressed_bytes).sum();
    let per = |bytes: u64| figure_or_dash(ratio(bytes, stat.totals.records), 3);
    let row = |column: &ColumnInfo| {
        [
            code(&column.name),
            grouped(column.compressed_bytes),
            figure(column.bytes_per_row, 3),
            percent(column.compressed_bytes, all),
            grouped(column.encoded_bytes),
            plain(&column.encodings.join(", ")),
            plain(&column.compression),
        ]
    };
    let rest = all.saturating_sub(columns);
    let sum = |name: &str, bytes| {
        [
            name.to_owned(),
            grouped(bytes),
            per(bytes),
            percent(bytes, all),
            String::new(),
            String::new(),
            String::new(),
        ]
    };
    let rows = stat.columns.iter().map(row).chain([sum("footers", rest), sum("**all**", all)]);
    doc.table(head, rows);
}

/// The order of rows, or of records.
pub fn order(doc: &mut Doc, stat: &Stat) {
    doc.heading(2, "Row order");
    if stat.shuffle.is_empty() {
        let unit = stat.unit();
        doc.paragraph(&match &stat.games {
            Some(games) if games.games > 0 => format!(
                "Games are runs of {unit} of ascending `ply`, one behind the other, as they were written: {} over {}. \
                 Nothing says that the {unit} are shuffled; neighbours belong to one game. Whoever needs whole games \
                 reads the files in the order of the table above, as one.",
                counted(games.games, "game"),
                counted(stat.totals.records, unit.trim_end_matches('s')),
            ),
            _ => "There is nothing to be in an order.".to_owned(),
        });
        return;
    }
    doc.paragraph(
        "Rows are to stand in the order of one uniform shuffle. Neighbouring positions of a game have neighbouring plies, \
         so an order that remembers games, files or phases shows in `ply`: in its correlation with the next row's (lag 1), \
         with the row's number (trend), and in the spread of the mean ply of blocks of rows against that of independent \
         samples (ratio). A uniform shuffle gives 0, 0 and 1, each within the noise beside it.",
    );
    let head = [
        ("shard", Left),
        ("rows", Right),
        ("mean ply", Right),
        ("standard deviation", Right),
        ("lag 1", Right),
        ("trend", Right),
        ("noise", Right),
    ];
    let title = |figures: &ShuffleFigures| {
        figures.path.as_ref().map_or("all".to_owned(), |path| code(&path.to_string_lossy()))
    };
    let rows = stat.shuffle.iter().map(|figures| {
        [
            title(figures),
            grouped(figures.rows),
            figure(figures.mean_ply, 3),
            figure(figures.sd_ply, 3),
            signed_or_dash(figures.lag1, 6),
            signed_or_dash(figures.trend, 6),
            figures.lag1.map_or("–".to_owned(), |_| format!("±{:.6}", figures.noise)),
        ]
    });
    doc.table(head, rows);
    let head = [
        ("shard", Left),
        ("blocks", Right),
        ("rows of a block", Right),
        ("measured", Right),
        ("random", Right),
        ("ratio", Right),
        ("noise", Right),
    ];
    let rows = stat.shuffle.iter().flat_map(|figures| {
        figures.blocks.iter().filter(|block| block.ratio.is_some()).map(|block| {
            [
                title(figures),
                grouped(block.blocks),
                grouped(block.rows_per_block),
                figure_or_dash(block.measured, 5),
                figure_or_dash(block.random, 5),
                figure_or_dash(block.ratio, 3),
                format!("±{:.3}", block.noise),
            ]
        })
    });
    let rows: Vec<_> = rows.collect();
    if !rows.is_empty() {
        doc.table(head, rows);
    }
}

/// The alarms of `stat`, with those that did not go off by number.
pub fn alarms(doc: &mut Doc, stat: &Stat) {
    doc.heading(3, "Alarms");
    let kinds = ALARMS.len();
    if stat.alarms.is_empty() {
        doc.paragraph(&format!("None of the {kinds} alarms of `manaka stat` went off."));
        return;
    }
    doc.paragraph(&format!("Of the {kinds} alarms of `manaka stat` these went off:"));
    let rows = stat
        .alarms
        .iter()
        .map(|alarm| [code(alarm.id), plain(alarm.sentence), plain(&alarm.message), plain(alarm.threshold)]);
    doc.table([("alarm", Left), ("means", Left), ("measured", Left), ("goes off at", Left)], rows);
}
