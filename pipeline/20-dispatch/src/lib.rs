//! Peels tunnels and pins each packet to its shard.
