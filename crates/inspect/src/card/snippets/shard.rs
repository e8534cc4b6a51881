use manaka_pack::shard::{Rows, ShardReader};
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let shard = ShardReader::open(Path::new("FILE"))?;
    println!("{:?}", shard.footer().conventions); // look before you mix
    let mut rows = Rows::default();
    for group in 0..shard.row_groups() {
        shard.read_row_group(group, &mut rows)?;
        for row in 0..rows.len() {
            let position = rows.position(row);
            let best = rows.candidates(row).start; // by prob, descending
            if (group, row) == (0, 0) {
                println!("{:?} {} {} {}", position.side(), rows.value_q[row], rows.mv[best], rows.prob[best]);
            }
        }
    }
    Ok(())
}
