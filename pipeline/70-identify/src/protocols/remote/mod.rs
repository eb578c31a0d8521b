//! Screens and shells from afar.

mod citrix;
mod radmin;
mod rdp;
mod rlogin;
mod spice;
mod ssh;
mod teamviewer;
mod telnet;
mod vnc;
mod x11;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &citrix::PROTOCOL,
    &radmin::PROTOCOL,
    &rdp::PROTOCOL,
    &rlogin::PROTOCOL,
    &spice::PROTOCOL,
    &ssh::PROTOCOL,
    &teamviewer::PROTOCOL,
    &telnet::PROTOCOL,
    &vnc::PROTOCOL,
    &x11::PROTOCOL,
];
