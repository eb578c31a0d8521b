//! Small services of the early net, and printers.

mod bjnp;
mod chargen;
mod cups;
mod dict;
mod finger;
mod gopher;
mod ident;
mod lpd;
mod pjl;
mod wake_on_lan;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &bjnp::PROTOCOL,
    &chargen::PROTOCOL,
    &cups::PROTOCOL,
    &dict::PROTOCOL,
    &finger::PROTOCOL,
    &gopher::PROTOCOL,
    &ident::PROTOCOL,
    &lpd::PROTOCOL,
    &pjl::PROTOCOL,
    &wake_on_lan::PROTOCOL,
];
