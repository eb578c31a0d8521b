//! The protocols that share the messages of DNS.

use crate::record::{DNS, FROM_SERVER, LLMNR, MDNS};
use flowpin_record::MessageSchema;

/// The protocol variant of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flavour {
    /// RFC 1035.
    Dns,
    /// RFC 6762: multicast on the link; responses do not repeat the question and are not paired.
    Mdns,
    /// RFC 4795.
    Llmnr,
}

impl Flavour {
    /// In the order of the parser's protocols.
    pub(crate) const ALL: [Self; 3] = [Self::Dns, Self::Mdns, Self::Llmnr];

    /// Returns the name of the protocol.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Dns => "dns",
            Self::Mdns => "mdns",
            Self::Llmnr => "llmnr",
        }
    }

    pub(crate) fn schema(self, to_server: bool) -> &'static MessageSchema {
        let [dns, mdns, llmnr] = &FROM_SERVER;
        match (self, to_server) {
            (Self::Dns, true) => &DNS,
            (Self::Mdns, true) => &MDNS,
            (Self::Llmnr, true) => &LLMNR,
            (Self::Dns, false) => dns,
            (Self::Mdns, false) => mdns,
            (Self::Llmnr, false) => llmnr,
        }
    }

    /// RFC 6762 §5.4 and §10.2: mDNS uses the highest bit of the class for flags.
    pub(crate) const fn class_mask(self) -> u16 {
        match self {
            Self::Mdns => 0x7fff,
            Self::Dns | Self::Llmnr => u16::MAX,
        }
    }
}
