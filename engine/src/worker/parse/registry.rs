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
    Ftp, ftp: flowpin_ftp::Ftp;
    WebSocket, websocket: flowpin_websocket::Carried<flowpin_tls::Tls>;
    Text, text: flowpin_text::Text;
}

#[cfg(test)]
mod tests {
    use super::{buffers, protocols, reads, schemas};
    use crate::run::stage_options;
    use flowpin_config::Plan;
    use flowpin_identify::Identifier;
    use std::collections::BTreeSet;

    /// Every protocol that a parser reads is one that identification finds.
    #[test]
    fn what_parsers_read_is_identified() {
        let identifier = Identifier::with(&protocols()).unwrap();
        for one in reads() {
            assert!(identifier.find(one.protocol).is_some(), "{one:?}");
        }
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
