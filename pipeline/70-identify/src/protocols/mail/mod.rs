//! Mail and news.

mod imap;
mod lmtp;
mod managesieve;
mod nntp;
mod pop3;
mod smtp;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &imap::PROTOCOL,
    &lmtp::PROTOCOL,
    &managesieve::PROTOCOL,
    &nntp::PROTOCOL,
    &pop3::PROTOCOL,
    &smtp::PROTOCOL,
];
