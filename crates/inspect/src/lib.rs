//! Is this data healthy: checks of streams and shards, and views of their records.
