//! Reports about patterns: tested ones, and the built-in protocols.

mod json;
mod list;
mod trial;

pub(crate) use json::trial_json;
pub(crate) use list::{list, list_json};
pub(crate) use trial::trial;

use core::net::SocketAddr;
use flowpin_engine::Found;

/// The endpoints of a match's connection, client first.
fn ends(found: &Found) -> (SocketAddr, SocketAddr) {
    let (client, server) = (&found.record.client, &found.record.server);
    (
        SocketAddr::new(client.address, client.port),
        SocketAddr::new(server.address, server.port),
    )
}

/// Transport protocol in lower case.
fn transport(found: &Found) -> String {
    let name = flowpin_record::eve_protocol_name(found.record.protocol);
    name.unwrap_or_default().to_lowercase()
}
