//! Who may do what.

mod kerberos;
mod ldap;
mod radius;
mod socks;
mod tacacs;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &kerberos::PROTOCOL,
    &ldap::PROTOCOL,
    &radius::PROTOCOL,
    &socks::PROTOCOL,
    &tacacs::PROTOCOL,
];
