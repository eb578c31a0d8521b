//! Merges the workers' records by time and writes them.
