//! Comma-separated values with a header line. No value needs quotes: names are plain by the rules
//! for records.

use super::{by, sums, transport};
use flowpin_engine::Listed;
use flowpin_words::number;
use std::io::{self, Write};

pub(super) fn head(out: &mut impl Write) -> io::Result<()> {
    out.write_all(
        b"ts,uid,id_orig_h,id_orig_p,id_resp_h,id_resp_p,proto,app_proto,app_proto_orig,app_rule,\
          app_confidence,app_by,packets_inspected,port_hint,pkts,bytes\n",
    )
}

pub(super) fn line(out: &mut impl Write, listed: &Listed) -> io::Result<()> {
    let record = &listed.record;
    let (client, server) = (&record.client, &record.server);
    write!(
        out,
        "{},{},{},{},{},{},{},",
        number::rfc3339(record.start),
        record.uid,
        client.address,
        client.port,
        server.address,
        server.port,
        transport(listed).to_lowercase(),
    )?;
    match &record.app {
        Some(app) => write!(
            out,
            "{},{},{},{},{},",
            app.name,
            app.original.unwrap_or_default(),
            app.rule,
            app.confidence.name(),
            by(app.by_client),
        )?,
        None => out.write_all(b",,,,,")?,
    }
    let (pkts, bytes) = sums(listed);
    let hint = listed.port_hint.unwrap_or_default();
    writeln!(out, "{},{hint},{pkts},{bytes}", listed.inspected)
}
