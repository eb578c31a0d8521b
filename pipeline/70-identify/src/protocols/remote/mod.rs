//! Screens and shells from afar.

mod citrix;
mod radmin;
mod rdp;
mod ssh;
mod teamviewer;
mod telnet;
mod vnc;

use crate::table::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &citrix::PROTOCOL,
    &radmin::PROTOCOL,
    &rdp::PROTOCOL,
    &ssh::PROTOCOL,
    &teamviewer::PROTOCOL,
    &telnet::PROTOCOL,
    &vnc::PROTOCOL,
];
