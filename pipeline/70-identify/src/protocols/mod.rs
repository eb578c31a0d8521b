//! The protocols, one file each, in folders by what they are for.
//!
//! # How to add one
//!
//! A protocol that gets a parser of its own brings its rules in the parser's crate
//! (`flowpin_parser::Parser::SIGNATURES`); they are searched for together with these. Others:
//!
//! 1. A file `protocols/<folder>/<name>.rs` with `pub(super) const PROTOCOL: Protocol`, and its
//!    line in the folder's `mod.rs`. A folder has 11 protocols at most: open a new one beside it.
//! 2. Its rules, any of which is enough:
//!    - text: `Rule::pattern`, an expression from the first byte of a direction or datagram on.
//!      Bounded and specific: a pattern that stays alive for long holds other verdicts back.
//!    - binary: `Rule::check`, a function that is asked where one of its `Lead`s fits. Give the
//!      narrowest leads that are true; `Lead::ANY` costs every connection.
//! 3. A check returns `Option<Answer>`: `None` (use `?` on `Look`'s readers) as long as bytes
//!    that decide are missing. With more bytes an answer may come, never change.
//!    - `Yes`: under one in 10 million other inputs, random or text, would pass. Count the bits:
//!      a 16-bit length that must agree with the datagram's gives 16, a version of 2 in 256 gives
//!      7; about 24 are enough together with a lead. Read on until there are enough.
//!    - `Likely`: about 10 bits. Two datagrams, or both directions, make a verdict.
//!    - a port (`look.on_port`) may stand for at most 8 of these bits, and never for all.
//! 4. One direction alone should be enough wherever the protocol allows: write rules for what the
//!    client and what the server begins with.
//! 5. Where a general protocol carries a special one (JSON-RPC over HTTP), give the special rule a
//!    lower rank (`Rule::ranked`): the general one waits until the special one has said no.
//! 6. Tests in the file: a positive example and a near miss, as bytes (`crate::testing`). The
//!    law tests (no panic on any bytes, answers stable under more bytes, random data is not named)
//!    find the rule by themselves.
//!
//! Name the RFC or the specification at the check.

mod access;
mod broadcast;
mod building;
mod calls;
mod carrier;
mod chat;
mod classic;
mod database;
mod encrypted;
mod files;
mod games;
mod industrial;
mod ledger;
mod local;
mod mail;
mod management;
mod media;
mod messaging;
mod metrics;
mod naming;
mod neighbours;
mod peers;
mod plant;
mod remote;
mod routing;
mod services;
mod storage;
mod tables;
mod telemetry;
mod things;
mod tools;
mod trade;
mod tunnel;
mod vehicles;
mod web;

use crate::Protocol;

/// Whether a rule finds a protocol of that name.
pub fn is_known(name: &str) -> bool {
    all().any(|protocol| protocol.name == name)
}

/// All protocols: a [`ProtocolId`](crate::ProtocolId) is a place here.
pub(crate) fn all() -> impl Iterator<Item = &'static Protocol> {
    [
        access::ALL,
        broadcast::ALL,
        building::ALL,
        calls::ALL,
        carrier::ALL,
        chat::ALL,
        classic::ALL,
        database::ALL,
        encrypted::ALL,
        files::ALL,
        games::ALL,
        industrial::ALL,
        ledger::ALL,
        local::ALL,
        mail::ALL,
        management::ALL,
        media::ALL,
        messaging::ALL,
        metrics::ALL,
        naming::ALL,
        neighbours::ALL,
        peers::ALL,
        plant::ALL,
        remote::ALL,
        routing::ALL,
        services::ALL,
        storage::ALL,
        tables::ALL,
        telemetry::ALL,
        things::ALL,
        tools::ALL,
        trade::ALL,
        tunnel::ALL,
        vehicles::ALL,
        web::ALL,
    ]
    .into_iter()
    .flatten()
    .copied()
}
