use manaka_core::stream::{Record, StreamReader};
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut stream = StreamReader::open(Path::new("FILE"))?; // raw or zstd
    println!("{:?}", stream.header().conventions); // look before you mix
    let (mut record, mut records) = (Record::default(), 0u64);
    while stream.read_record(&mut record)? {
        records += 1;
        if records == 1 {
            println!("{} {} {:?}", record.ply, record.value_q, record.candidates);
        }
    }
    println!("{records} records");
    Ok(())
}
