//! The kinds of messages that a run may write records of.

use flowpin_config::Plan;
use flowpin_dns::{DNS, DNS_LOG, LLMNR, MDNS};
use flowpin_fix::FIX;
use flowpin_http::{FILES, HttpOptions};
use flowpin_output::MessageSchemas;
use flowpin_tls::{QUIC, TLS};

/// Those of all parsers.
pub(crate) fn schemas(plan: &Plan) -> MessageSchemas {
    if !plan.parse.enabled {
        return MessageSchemas::default();
    }
    let http = flowpin_http::schema(&HttpOptions {
        all_fields: plan.parse.all_fields,
        ..HttpOptions::default()
    });
    let grammars = flowpin_text::built_in();
    let told = grammars
        .iter()
        .flat_map(|one| one.grammar.program.messages.iter())
        .map(|message| &message.schema);
    let own = [http, &DNS, &DNS_LOG, &MDNS, &LLMNR, &TLS, &QUIC, &FIX];
    let files = plan.files.any().then_some(&FILES);
    MessageSchemas::new(own.into_iter().chain(files).chain(told))
}

/// The page of the documentation that lists every field of every format: `docs/user/records.md`.
pub fn records_page() -> String {
    let mut plan = Plan::default();
    plan.parse.all_fields = true;
    plan.files.decode = true;
    flowpin_output::records_page(&schemas(&plan))
}
