//! What the outside world hands over: corpus parquet.
