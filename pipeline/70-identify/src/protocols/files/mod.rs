//! Files over the net.

mod afp;
mod ftp;
mod ftp_data;
mod git;
mod nfs;
mod rsync;
mod smb;
mod smb1;
mod tftp;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &afp::PROTOCOL,
    &ftp::PROTOCOL,
    &ftp_data::PROTOCOL,
    &git::PROTOCOL,
    &nfs::PROTOCOL,
    &rsync::PROTOCOL,
    &smb::PROTOCOL,
    &smb1::PROTOCOL,
    &tftp::PROTOCOL,
];
