//! The connection table: direction, states, expiry, eviction.
