//! Databases and caches.

mod cassandra;
mod drda;
mod memcached;
mod mongodb;
mod mssql;
mod mysql;
mod oracle;
mod postgresql;
mod redis;

use crate::Protocol;
pub(super) use redis::is_login_or_end;

pub(super) const ALL: &[&Protocol] = &[
    &cassandra::PROTOCOL,
    &drda::PROTOCOL,
    &memcached::PROTOCOL,
    &mongodb::PROTOCOL,
    &mssql::PROTOCOL,
    &mysql::PROTOCOL,
    &oracle::PROTOCOL,
    &postgresql::PROTOCOL,
    &redis::PROTOCOL,
];
