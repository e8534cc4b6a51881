//! The Rust code that a card prints compiles and reads the files it is printed for.
#![allow(clippy::print_stdout, reason = "it shows what it read")]

mod fixtures;

use fixtures::{Shard, file, score_rows, stream_bytes};
use manaka_core::Conventions;

type Read = Result<(), Box<dyn std::error::Error>>;

mod shard {
    include!("../src/card/snippets/shard.rs");
    pub fn read() -> super::Read {
        main()
    }
}

mod stream {
    include!("../src/card/snippets/stream.rs");
    pub fn read() -> super::Read {
        main()
    }
}

mod corpus {
    include!("../src/card/snippets/corpus.rs");
    pub fn read() -> super::Read {
        main()
    }
}

mod psv {
    include!("../src/card/snippets/psv.rs");
    pub fn read() -> super::Read {
        main()
    }
}

/// One test, since the directory it works in is the whole program's.
#[test]
fn what_a_card_prints_reads_the_file_it_names() {
    let dir = tempfile::tempdir().unwrap();
    std::env::set_current_dir(dir.path()).unwrap();
    // Each is written by a name of its own and then takes the place of the one before.
    let named = |path: std::path::PathBuf| std::fs::rename(path, "FILE").unwrap();
    named(Shard::scores(score_rows(100, 1)).write(dir.path(), "shard"));
    shard::read().unwrap();
    assert!(stream::read().is_err());
    named(file(dir.path(), "stream", &stream_bytes(Conventions::TEACHER, &fixtures::score_records(9, 2))));
    stream::read().unwrap();
    assert!(shard::read().is_err());
    let examples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    std::fs::copy(examples.join("fairy-corpus.parquet"), "FILE").unwrap();
    corpus::read().unwrap();
    named(file(dir.path(), "raw", &[]));
    psv::read().unwrap();
}
