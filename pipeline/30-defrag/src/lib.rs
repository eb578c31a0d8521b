//! IPv4 and IPv6 fragments to whole datagrams.
