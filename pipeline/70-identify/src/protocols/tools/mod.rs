//! What developers and administrators work with.

mod adb;
mod cvs;
mod distcc;
mod jdwp;
mod nine_p;
mod nomachine;
mod svn;
mod usbip;
mod xdmcp;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &adb::PROTOCOL,
    &cvs::PROTOCOL,
    &distcc::PROTOCOL,
    &jdwp::PROTOCOL,
    &nine_p::PROTOCOL,
    &nomachine::PROTOCOL,
    &svn::PROTOCOL,
    &usbip::PROTOCOL,
    &xdmcp::PROTOCOL,
];
