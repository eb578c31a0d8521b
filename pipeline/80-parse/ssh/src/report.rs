//! The record of a connection.

use crate::SSH;
use crate::offer::{CIPHER, COMPRESSION, HOST_KEY, KEX, MAC, Offer, agreed, fingerprint};
use crate::side::Side;
use flowpin_packet::Timestamp;
use flowpin_parser::KeptBytes;
use flowpin_record::{MessageSink, Value};

/// What one side has said.
#[derive(Debug, Default)]
struct Told {
    banner: Vec<u8>,
    packet: Vec<u8>,
}

impl Told {
    fn of(side: &Side, kept: &KeptBytes) -> Self {
        let mut told = Self::default();
        kept.read(&side.banner, &mut told.banner);
        kept.read(&side.packet, &mut told.packet);
        told
    }

    /// Version and software (RFC 4253 §4.2): what follows a blank is a comment.
    fn versions(&self) -> (&[u8], &[u8]) {
        let rest = self.banner.strip_prefix(b"SSH-").unwrap_or_default();
        let dash = rest.iter().position(|&byte| byte == b'-');
        let (version, software) = rest.split_at(dash.unwrap_or(rest.len()));
        let software = software.get(1..).unwrap_or_default();
        let end = software.iter().position(|&byte| byte == b' ');
        let software = software.get(..end.unwrap_or(software.len()));
        (version, software.unwrap_or_default())
    }
}

/// Reports a connection of which an identification was seen: the client's side, the server's.
pub(crate) fn report(
    at: Timestamp,
    sides: [&Side; 2],
    kept: &KeptBytes,
    sink: &mut impl MessageSink,
) {
    if sides.iter().all(|side| side.banner.is_empty()) {
        return;
    }
    if !sink.reads(&SSH) {
        return sink.message(&SSH, at, &[]);
    }
    let told = sides.map(|side| Told::of(side, kept));
    let [client, server] = &told;
    let offers = told.each_ref().map(|told| Offer::parse(&told.packet));
    let mut algorithms = [Vec::new(), Vec::new()];
    let mut prints = [Vec::new(), Vec::new()];
    let outs = algorithms.iter_mut().zip(&mut prints);
    for ((offer, to_server), (algorithms, print)) in offers.iter().zip([true, false]).zip(outs) {
        if let Some(offer) = offer {
            *algorithms = offer.algorithms(to_server);
            *print = fingerprint(algorithms);
        }
    }
    for (told, to_server) in told.iter().zip([true, false]) {
        let (version, software) = told.versions();
        sink.said(to_server, "ssh.proto", version);
        sink.said(to_server, "ssh.software", software);
    }
    for ((print, algorithms), to_server) in prints.iter().zip(&algorithms).zip([true, false]) {
        sink.said(to_server, "ssh.hassh", print);
        sink.said(to_server, "ssh.hassh.string", algorithms);
    }
    let agreed_on = |nth: usize, of_server: usize| match &offers {
        [Some(client), Some(server)] => agreed(client.list(nth), server.list(of_server)),
        _ => &[],
    };
    let [
        (client_version, client_software),
        (server_version, server_software),
    ] = told.each_ref().map(Told::versions);
    let major = match (client_version, server_version) {
        // RFC 4253 §5.1: 1.99 stands for both versions.
        ([b'2', ..] | b"1.99", [b'2', ..] | b"1.99") => Value::Count(2),
        ([b'1', ..], [b'1', ..]) => Value::Count(1),
        _ => Value::Unset,
    };
    let [hassh, hassh_server] = &prints;
    let [of_client, of_server] = &algorithms;
    let values = [
        major,
        Value::bytes(&client.banner),
        Value::bytes(&server.banner),
        Value::bytes(agreed_on(CIPHER, CIPHER)),
        Value::bytes(agreed_on(MAC, MAC)),
        Value::bytes(agreed_on(COMPRESSION, COMPRESSION)),
        Value::bytes(agreed_on(KEX, KEX)),
        Value::bytes(agreed_on(HOST_KEY, HOST_KEY)),
        Value::bytes(client_version),
        Value::bytes(client_software),
        Value::bytes(hassh),
        Value::bytes(of_client),
        Value::bytes(server_version),
        Value::bytes(server_software),
        Value::bytes(hassh_server),
        Value::bytes(of_server),
    ];
    sink.message(&SSH, at, &values);
}
