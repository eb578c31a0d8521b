//! Between the exchanges of telephone networks.

mod chunk;
mod diameter;
mod m3ua;
mod ngap;
mod s1ap;
mod sigtran;
mod x2ap;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &diameter::PROTOCOL,
    &m3ua::PROTOCOL,
    &ngap::PROTOCOL,
    &s1ap::PROTOCOL,
    &sigtran::PROTOCOL,
    &x2ap::PROTOCOL,
];
