//! MPK1 streams to training shards: fold, order, write; and the shard reader.
