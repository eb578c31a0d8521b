//! The columns of alert records: those of the rule and of its connection, and values of the message
//! that it fits.

use flowpin_record::{Kind, MessageColumn};

const fn column(
    name: &'static str,
    eve: &'static str,
    kind: Kind,
    doc: &'static str,
) -> MessageColumn {
    MessageColumn::new(name, eve, kind, doc)
}

/// The rule's columns and the connection's; those of [`SHOWN`] follow.
#[rustfmt::skip]
pub(crate) const COLUMNS: &[MessageColumn] = &[
    column("is_orig", "", Kind::Bool, "Whether the client sent what the rule fits."),
    column("action", "alert.action", Kind::Enum, "`allowed`: no packet is held up."),
    column("gid", "alert.gid", Kind::Count, "The rule's generator."),
    column("sid", "alert.signature_id", Kind::Count, "The rule's number."),
    column("rev", "alert.rev", Kind::Count, "The rule's revision."),
    column("signature", "alert.signature", Kind::Text, "What the rule says."),
    column("category", "alert.category", Kind::Text, "The text of its class."),
    column("severity", "alert.severity", Kind::Count, "Its priority: 1 is the highest."),
    column("xff", "alert.xff", Kind::Address,
        "HTTP: the client that a proxy names (`--alert-xff extra-data`)."),
    column("direction", "direction", Kind::Enum, "`to_server` or `to_client`."),
    column("would_drop", "flowpin.would_drop", Kind::Bool,
        "An inline device would drop the packet (`drop`, `reject`); else left out."),
    column("metadata", "flowpin.metadata", Kind::TextList, "The rule's metadata: keys and values."),
    column("pkt_src", "pkt_src", Kind::Enum, "What has shown it: a packet, or the end."),
    column("flow_pkts_toserver", "flow.pkts_toserver", Kind::Count,
        "Packets of the connection so far: to the server."),
    column("flow_pkts_toclient", "flow.pkts_toclient", Kind::Count, "To the client."),
    column("flow_bytes_toserver", "flow.bytes_toserver", Kind::Count,
        "Bytes of frames so far: to the server."),
    column("flow_bytes_toclient", "flow.bytes_toclient", Kind::Count, "To the client."),
    column("flow_start", "flow.start", Kind::Time, "The connection's first packet."),
    column("flow_src_ip", "flow.src_ip", Kind::Address,
        "The client, whoever sent what the rule fits."),
    column("flow_dest_ip", "flow.dest_ip", Kind::Address, "The server."),
    column("flow_src_port", "flow.src_port", Kind::Port, "The client's port."),
    column("flow_dest_port", "flow.dest_port", Kind::Port, "The server's port."),
    column("icmp_type", "icmp_type", Kind::Count,
        "The type of the ICMP packet that the rule fits."),
    column("icmp_code", "icmp_code", Kind::Count, "Its code."),
    column("payload", "payload", Kind::Text,
        "The first bytes of what the rule fits, in Base64 (`--alert-payload`)."),
    column("payload_printable", "payload_printable", Kind::Text,
        "The same; what is no printable ASCII is a dot."),
    column("stream", "stream", Kind::Count,
        "1: they are of a stream; 0: of a packet."),
    column("packet", "packet", Kind::Text,
        "The packet that shows it, in Base64 (`--alert-packet`)."),
    column("packet_linktype", "packet_info.linktype", Kind::Count,
        "What its frame starts with: the number of its link type."),
    column("packet_linktype_name", "packet_info.linktype_name", Kind::Text, "Its name."),
    column("ether_src", "ether.src_mac", Kind::Text, "Who sent it, by Ethernet."),
    column("ether_dest", "ether.dest_mac", Kind::Text, "Who received it."),
    column("verdict", "verdict.action", Kind::Enum,
        "`alert`, with the packet: none is held up."),
    column("pcap_filename", "pcap_filename", Kind::Text,
        "The capture, if the run reads one alone (`--alert-packet`)."),
    column("http_hostname", "http.hostname", Kind::Text, "HTTP: the host."),
    column("http_url", "http.url", Kind::Text, "HTTP: the target."),
    column("http_user_agent", "http.http_user_agent", Kind::Text, "HTTP: User-Agent."),
    column("http_content_type", "http.http_content_type", Kind::Text, "HTTP: the response's type."),
    column("http_method", "http.http_method", Kind::Text, "HTTP: the method."),
    column("http_protocol", "http.protocol", Kind::Text, "HTTP: the version."),
    column("http_refer", "http.http_refer", Kind::Text, "HTTP: Referer."),
    column("http_status", "http.status", Kind::Count, "HTTP: the status."),
    column("http_length", "http.length", Kind::Count, "HTTP: length of the response's body."),
    column("tls_sni", "tls.sni", Kind::Text, "TLS: the server's name."),
    column("tls_subject", "tls.subject", Kind::Text, "TLS: the certificate's subject."),
    column("tls_issuerdn", "tls.issuerdn", Kind::Text, "TLS: the certificate's issuer."),
    column("tls_version", "tls.version", Kind::Text, "TLS: the version."),
    column("dns_type", "dns.type", Kind::Text, "DNS: `request` or `response`."),
    column("dns_rrname", "dns.queries[].rrname", Kind::TextList, "DNS: the names asked for."),
    column("dns_rrtype", "dns.queries[].rrtype", Kind::TextList, "DNS: the types asked for."),
    column("dns_answer", "dns.answers[].rrname", Kind::TextList, "DNS: the answers' names."),
    column("dns_answer_type", "dns.answers[].rrtype", Kind::TextList, "DNS: their types."),
    column("dns_answer_data", "dns.answers[].rdata", Kind::TextList, "DNS: what they hold."),
    column("dns_rcode", "dns.rcode", Kind::Text, "DNS: how the request ended."),
    column("ftp_command", "ftp.command", Kind::Text, "FTP: the command."),
    column("ftp_data", "ftp.command_data", Kind::Text, "FTP: the command's argument."),
    column("ftp_completion_code", "ftp.completion_code", Kind::TextList,
        "FTP: the replies' codes."),
    column("ftp_reply", "ftp.reply", Kind::TextList, "FTP: the replies' texts."),
    column("ftp_dynamic_port", "ftp.dynamic_port", Kind::Count,
        "FTP: the port where the data connection is waited for."),
    column("ftp_mode", "ftp.mode", Kind::Text, "FTP: who opens the data connection."),
    column("ftp_reply_received", "ftp.reply_received", Kind::Text,
        "FTP: whether the last reply has come."),
    column("smtp_mail_from", "smtp.mail_from", Kind::Text, "SMTP: the sender."),
    column("email_from", "email.from", Kind::Text, "SMTP: the mail's From field."),
    column("email_subject", "email.subject", Kind::Text, "SMTP: its subject."),
    column("sip_method", "sip.method", Kind::Text, "SIP: the method."),
    column("sip_uri", "sip.uri", Kind::Text, "SIP: the target."),
    column("ssh_client_version", "ssh.client.proto_version", Kind::Text,
        "SSH: the client's protocol version."),
    column("ssh_client_software", "ssh.client.software_version", Kind::Text,
        "SSH: the client's software."),
    column("ssh_server_version", "ssh.server.proto_version", Kind::Text,
        "SSH: the server's protocol version."),
    column("ssh_server_software", "ssh.server.software_version", Kind::Text,
        "SSH: the server's software."),
    column("file_name", "files[].filename", Kind::TextList, "The file's name."),
    column("file_size", "files[].size", Kind::CountList, "Its length."),
    column("file_md5", "files[].md5", Kind::TextList, "Its MD5."),
    column("file_sha1", "files[].sha1", Kind::TextList, "Its SHA-1."),
    column("file_sha256", "files[].sha256", Kind::TextList, "Its SHA-256."),
    column("entropy", "metadata.entropy=numbers", Kind::TextList,
        "By the buffer that `entropy` was computed of: bits a byte."),
    column("frame_type", "frame.type", Kind::Text, "The frame that the rule fits (`frame`)."),
    column("frame_direction", "frame.direction", Kind::Enum, "`toserver` or `toclient`."),
    column("frame_length", "frame.length", Kind::Count, "Its bytes."),
    column("frame_complete", "frame.complete", Kind::Bool, "Whether all of them were seen."),
    column("http_xff", "http.xff", Kind::Text, "HTTP: X-Forwarded-For."),
];

/// Columns of messages that alerts show, by their path in events.
pub(crate) const SHOWN: [&str; 47] = [
    "http.hostname",
    "http.url",
    "http.http_user_agent",
    "http.http_content_type",
    "http.http_method",
    "http.protocol",
    "http.http_refer",
    "http.status",
    "http.length",
    "tls.sni",
    "tls.subject",
    "tls.issuerdn",
    "tls.version",
    "dns.type",
    "dns.queries[].rrname",
    "dns.queries[].rrtype",
    "dns.answers[].rrname",
    "dns.answers[].rrtype",
    "dns.answers[].rdata",
    "dns.rcode",
    "ftp.command",
    "ftp.command_data",
    "ftp.completion_code",
    "ftp.reply",
    "ftp.dynamic_port",
    "ftp.mode",
    "ftp.reply_received",
    "smtp.mail_from",
    "email.from",
    "email.subject",
    "sip.method",
    "sip.uri",
    "ssh.client.proto_version",
    "ssh.client.software_version",
    "ssh.server.proto_version",
    "ssh.server.software_version",
    "fileinfo.filename",
    "fileinfo.size",
    "fileinfo.md5",
    "fileinfo.sha1",
    "fileinfo.sha256",
    "metadata.entropy=numbers",
    "frame.type",
    "frame.direction",
    "frame.length",
    "frame.complete",
    "http.xff",
];

/// Where [`SHOWN`] has what evaluation itself finds out.
pub(crate) const ENTROPY: u8 = 41;
/// The first of a frame's columns.
pub(crate) const FRAME: u8 = 42;
/// Where it has the clients that proxies name.
pub(crate) const FORWARDED: u8 = 46;

/// Columns before those.
pub(crate) const RULES_COLUMNS: usize = COUNT - SHOWN.len();
/// All columns.
pub(crate) const COUNT: usize = COLUMNS.len();

#[cfg(test)]
mod tests {
    use super::{COLUMNS, ENTROPY, FORWARDED, FRAME, RULES_COLUMNS, SHOWN};

    /// The list of shown columns has their places.
    #[test]
    fn shown_columns_follow_all_others() {
        for (column, path) in COLUMNS[RULES_COLUMNS..].iter().zip(SHOWN) {
            // A record of a file tells of one, an alert lists those that it is about.
            assert_eq!(column.eve, path.replace("fileinfo.", "files[]."));
        }
        assert!(SHOWN[usize::from(ENTROPY)].starts_with("metadata.entropy"));
        assert_eq!(SHOWN[usize::from(FRAME)], "frame.type");
        assert_eq!(SHOWN[usize::from(FORWARDED)], "http.xff");
    }
}
