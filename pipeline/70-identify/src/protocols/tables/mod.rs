//! More databases: those that the web grew up with, and those that companies keep.

mod aerospike;
mod arangodb;
mod bolt;
mod clickhouse;
mod firebird;
mod hana;
mod ignite;
mod mysqlx;
mod rethinkdb;
mod sap_router;
mod tarantool;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &aerospike::PROTOCOL,
    &arangodb::PROTOCOL,
    &bolt::PROTOCOL,
    &clickhouse::PROTOCOL,
    &firebird::PROTOCOL,
    &hana::PROTOCOL,
    &ignite::PROTOCOL,
    &mysqlx::PROTOCOL,
    &rethinkdb::PROTOCOL,
    &sap_router::PROTOCOL,
    &tarantool::PROTOCOL,
];
