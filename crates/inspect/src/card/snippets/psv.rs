use manaka_corpus::psv::{Layout, MoveLayout, Reader, Record};
use std::{fs::File, io::BufReader};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let layout = Layout::multipv(MoveLayout::YaneuraOu, 5);
    let mut raw = Reader::new(BufReader::new(File::open("FILE")?), layout);
    let (mut record, mut records) = (Record::default(), 0u64);
    while raw.read_record(&mut record)? {
        records += 1;
    }
    println!("{records} records, the last at ply {}", record.ply);
    Ok(())
}
