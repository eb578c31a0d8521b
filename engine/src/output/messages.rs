//! The kinds of messages that a run may write records of.

use crate::error::RunError;
use flowpin_config::Plan;
use flowpin_dns::{DNS, DNS_LOG, LLMNR, MDNS};
use flowpin_fix::FIX;
use flowpin_ftp::{FTP, FTP_DATA, FTP_LOG};
use flowpin_http::{FILES, HttpOptions};
use flowpin_lexer::Grammar;
use flowpin_output::MessageSchemas;
use flowpin_text::{Protocol, built_in};
use flowpin_tls::{QUIC, TLS};
use std::sync::Arc;

/// Those of all parsers.
pub(crate) fn schemas(plan: &Plan) -> MessageSchemas {
    if !plan.parse.enabled {
        return MessageSchemas::default();
    }
    let http = flowpin_http::schema(&HttpOptions {
        all_fields: plan.parse.all_fields,
        ..HttpOptions::default()
    });
    let grammars = grammars(plan);
    let told = grammars
        .iter()
        .flat_map(|one| one.grammar.program.messages.iter())
        .map(|message| &message.schema);
    let own = [
        http, &DNS, &DNS_LOG, &MDNS, &LLMNR, &TLS, &QUIC, &FIX, &FTP, &FTP_LOG, &FTP_DATA,
    ];
    let files = plan.files.any().then_some(&FILES);
    MessageSchemas::new(own.into_iter().chain(files).chain(told))
}

/// Those of all parsers that there are, asked for or not: an earlier run may have asked.
pub(crate) fn all_schemas(plan: &Plan) -> MessageSchemas {
    let mut plan = plan.clone();
    plan.parse.enabled = true;
    plan.files.decode = true;
    schemas(&plan)
}

/// Protocols with grammars: the user's, then those that come along, unless the user's replace them.
pub(crate) fn grammars(plan: &Plan) -> Vec<Arc<Protocol>> {
    let loaded = &plan.parse.loaded;
    let mut protocols: Vec<_> = loaded
        .iter()
        .map(|grammar| Protocol::loaded(Grammar::clone(grammar)))
        .collect();
    let is_replaced = |protocol: &Arc<Protocol>| {
        let name = &protocol.grammar.protocol;
        loaded.iter().any(|grammar| grammar.protocol == *name)
    };
    let mut own = built_in();
    own.retain(|protocol| !is_replaced(protocol));
    protocols.extend(own);
    protocols
}

/// That all protocols of which messages are asked for have a parser.
///
/// # Errors
/// The first one that has none, with those that have.
pub(crate) fn check(plan: &Plan) -> Result<(), RunError> {
    let grammars = grammars(plan);
    let own = grammars.iter().map(|one| one.grammar.protocol.as_ref());
    let mut known: Vec<&str> = NATIVE.iter().copied().chain(own).collect();
    let mut asked = plan.parse.protocols.iter();
    match asked.find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => {
            known.sort_unstable();
            Err(RunError::NoSuchParser {
                name: name.clone(),
                known: known.into_iter().map(str::to_owned).collect(),
            })
        }
    }
}

/// Protocols whose parsers are no grammars.
const NATIVE: [&str; 9] = [
    "tls", "dtls", "quic", "http", "fix", "ftp", "dns", "mdns", "llmnr",
];

/// The page of the documentation that lists every field of every format: `docs/user/records.md`.
pub fn records_page() -> String {
    let mut plan = Plan::default();
    plan.parse.all_fields = true;
    plan.files.decode = true;
    flowpin_output::records_page(&schemas(&plan))
}
