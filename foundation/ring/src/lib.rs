//! The single-producer single-consumer ring between two cores.
