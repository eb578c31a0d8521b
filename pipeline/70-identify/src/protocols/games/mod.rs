//! Games.

mod discord;
mod gamespy;
mod minecraft;
mod netcode;
mod quake;
mod raknet;
mod samp;
mod source_engine;
mod steam;
mod teeworlds;
mod world_of_warcraft;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &discord::PROTOCOL,
    &gamespy::PROTOCOL,
    &minecraft::PROTOCOL,
    &netcode::PROTOCOL,
    &quake::PROTOCOL,
    &raknet::PROTOCOL,
    &samp::PROTOCOL,
    &source_engine::PROTOCOL,
    &steam::PROTOCOL,
    &teeworlds::PROTOCOL,
    &world_of_warcraft::PROTOCOL,
];
