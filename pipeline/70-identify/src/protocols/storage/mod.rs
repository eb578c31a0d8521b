//! Disks over the net.

mod ceph;
mod drbd;
mod iscsi;
mod nbd;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &ceph::PROTOCOL,
    &drbd::PROTOCOL,
    &iscsi::PROTOCOL,
    &nbd::PROTOCOL,
];
