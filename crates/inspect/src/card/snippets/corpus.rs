use manaka_corpus::{CorpusFile, Rows};
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let corpus = CorpusFile::open(Path::new("FILE"))?;
    let mut rows = Rows::default();
    let mut scores = 0i64;
    for group in 0..corpus.row_groups() {
        let mut batches = corpus.batches(group)?;
        while batches.read(&mut rows)? {
            for row in rows.iter() {
                scores += row.cp().unwrap_or(0); // None where the file has a null
            }
        }
    }
    println!("{} rows, scores add up to {scores}", corpus.rows());
    Ok(())
}
