//! The parsers there are: one line each.
//!
//! The crate of a parser declares what it reads, writes and takes ([`Parser`]); the documentation
//! of `flowpin_parser` shows how to add one. The table becomes a struct with static calls
//! (`dispatch`).

use super::dispatch::parsers;
use flowpin_parser::Parser;

// In the order in which the documentation has their records. Where two read one protocol, the
// first one does.
parsers! { $
    Http, http: flowpin_http::Http;
    Dns, dns: flowpin_dns::Dns;
    Tls, tls: flowpin_tls::Tls;
    Quic, quic: flowpin_tls::Quic;
    Fix, fix: flowpin_fix::Fix;
    Nut, nut: flowpin_nut::Nut;
    Gopher, gopher: flowpin_gopher::Gopher;
    Ssh, ssh: flowpin_ssh::Ssh;
    Ftp, ftp: flowpin_ftp::Ftp;
    WebSocket, websocket: flowpin_websocket::Carried<flowpin_tls::Tls>;
    Text, text: flowpin_text::Text;
}

#[cfg(test)]
mod tests {
    use super::{buffers, protocols, reads, schemas};
    use crate::run::stage_options;
    use flowpin_config::Plan;
    use flowpin_identify::{Identifier, On, Search, Searches, Step, Whose};
    use flowpin_packet::Shard;
    use flowpin_testkit::noise::{KINDS, Numbers, noise};
    use std::collections::BTreeSet;
    use std::sync::Arc;

    /// Every protocol that a parser reads is one that identification finds.
    #[test]
    fn what_parsers_read_is_identified() {
        let identifier = Identifier::with(&protocols()).unwrap();
        for one in reads() {
            assert!(identifier.find(one.protocol).is_some(), "{one:?}");
        }
    }

    /// Noise is of no protocol that a parser brings, also at its ports: at most one in 100,000, as
    /// of the protocols in identification's own table.
    #[test]
    fn noise_has_no_name_of_a_parser() {
        let brought = protocols();
        let identifier = Arc::new(Identifier::with(&brought).unwrap());
        let options = stage_options::searches(&Plan::default());
        let mut searches = Searches::new(identifier, options).unwrap();
        let ports: Vec<u16> = brought.iter().flat_map(|one| one.ports).copied().collect();
        let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
        let mut named = Vec::new();
        for round in 0..12_500 {
            let port = match round % 2 {
                0 => ports[numbers.below(ports.len())],
                _ => 50_001,
            };
            for (kind, on) in KINDS
                .iter()
                .flat_map(|&kind| [(kind, On::Udp), (kind, On::Tcp)])
            {
                let bytes = noise(&mut numbers, kind);
                let whose = Whose {
                    shard: Shard(0),
                    ports: (50_000, port),
                    on,
                    to_server: numbers.below(2) == 0,
                    connection: 0,
                    lives: None,
                    offset: 0,
                    again: None,
                };
                let mut search = Search::default();
                let mut step = match on {
                    On::Tcp => searches.stream_bytes(&mut search, whose, &bytes),
                    _ => searches.datagram(&mut search, whose, &bytes, bytes.len()),
                };
                if step == Step::Undecided && on == On::Tcp {
                    step = searches.stream_ended(&mut search, whose);
                }
                searches.release(&mut search);
                if let Step::Verdict(verdict) = step
                    && let Some(found) = searches.identifier().protocol(verdict.protocol)
                    && brought.iter().any(|one| one.name == found.name)
                {
                    named.push((found.name, kind, bytes));
                }
            }
        }
        assert!(named.len() <= 1, "{named:?}");
    }

    /// Every buffer is a column of a record, and no two have one name.
    #[test]
    fn what_parsers_publish_is_in_their_records() {
        let setup = stage_options::parsers(&Plan::default());
        let schemas = schemas(&setup);
        let mut names = BTreeSet::new();
        for buffer in buffers() {
            assert!(names.insert(buffer.name), "{} twice", buffer.name);
            let of_name = schemas.iter().map(|(_, schema)| schema);
            let mut of_name = of_name.filter(|one| one.name == buffer.schema);
            let is_there = of_name.any(|schema| {
                let mut columns = schema.columns.iter();
                columns.any(|one| one.eve == buffer.column || one.name == buffer.column)
            });
            assert!(is_there, "{buffer:?}");
        }
        assert!(names.contains("http.uri") && names.contains("tls.sni"));
    }
}
