//! Packet builder, capture recorder, trace multiplier, oracles.
