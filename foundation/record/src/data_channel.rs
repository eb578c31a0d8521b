//! What one connection says of another: FTP's control connection, of those that carry its data.

use crate::RecordEndpoint;
use core::net::IpAddr;

/// What a control connection says of its data connections.
///
/// It is told where the control connection is read, and used where all connections are seen: a data
/// connection has other ports, and so may be another worker's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataChannel<'a> {
    /// One is about to be opened.
    Announced {
        /// Whether the client said so (PORT, EPRT); otherwise the server's reply did.
        by_client: bool,
        /// Who will open it.
        opener: IpAddr,
        /// Where it is waited for.
        listener: RecordEndpoint,
    },
    /// The last one that this connection announced carries this.
    Carries {
        /// The command, in upper case: `RETR`.
        command: &'a [u8],
        /// What it names; empty: nothing.
        file: &'a [u8],
    },
}
