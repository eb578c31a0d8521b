//! Named losses: every cap and every full queue has one.

macro_rules! losses {
    ($($(#[$meta:meta])* $variant:ident = $name:literal, $unit:literal, $text:literal;)*) => {
        /// A reason for which something was not analysed, or not kept.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Loss { $($(#[$meta])* $variant,)* }

        impl Loss {
            /// All, in table order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The counter's name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What it counts: a noun in the singular.
            pub const fn unit(self) -> &'static str {
                match self { $(Self::$variant => $unit,)* }
            }

            /// The reason and what to do, in one line that continues "3 packets …".
            pub const fn explanation(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

losses! {
    /// Packets that a full ring could not take (live input only).
    RingFull = "ring_full", "packet",
        "dropped because a worker was too slow: use more workers, or a filter";
    /// Packets of receive queues that were added to an interface while AF_XDP had it.
    QueuesAdded = "queues_added", "packet",
        "of receive queues added while the run went on went to the host: start it again";
    /// Bodies that were not extracted nor compared with rules because of an overload.
    ShedBodies = "shed_bodies", "body",
        "not extracted nor compared with rules under overload (--shed)";
    /// Connections whose messages were not read because of an overload.
    ShedParsing = "shed_parsing", "connection",
        "whose messages were not read under overload (--shed)";
    /// Connections that were only followed because of an overload.
    ShedConnections = "shed_connections", "connection",
        "not searched for protocols nor compared with rules under overload (--shed)";
    /// Connections that ended early because their shard was full.
    ConnectionsEvicted = "connections_evicted", "connection",
        "ended early because the table was full: raise --memory";
    /// Fragments discarded because their datagram was not complete in time.
    FragmentTimeout = "fragment_timeout", "fragment", "of datagrams that were never complete";
    /// Fragments discarded because fragment memory was full.
    FragmentMemory = "fragment_memory", "fragment",
        "discarded for lack of memory, oldest first: raise --memory";
    /// Fragments of a datagram that had too many.
    FragmentCount = "fragment_count", "fragment", "of datagrams with more fragments than the limit";
    /// Fragments discarded because they overlap where that is forbidden.
    FragmentOverlap = "fragment_overlap", "fragment",
        "overlapping though the receiver forbids it, or contradicting a length";
    /// Fragments discarded because their source filled its share of memory.
    FragmentHostMemory = "fragment_host_memory", "fragment",
        "of sources that filled their share of memory: see [defragmentation]";
    /// Fragments of a datagram that used more memory than the limit.
    FragmentDatagramMemory = "fragment_datagram_memory", "fragment",
        "of datagrams that use more memory than the limit";
    /// Missing bytes in streams reported as gaps early, because their shard's memory was full.
    ReassemblyMemory = "reassembly_memory", "gap",
        "given up early for lack of memory, oldest first: raise --memory";
    /// Missing bytes in streams reported as gaps early, because the stream reached its limit.
    ReassemblyStream = "reassembly_stream", "gap",
        "given up early because a stream held more bytes out of order than the limit";
    /// Bytes without room, because of a cap.
    ReassemblyRoom = "reassembly_room", "byte", "out of order, without room in memory";
    /// Bytes beyond the depth to which streams are reassembled.
    ReassemblyDepth = "reassembly_depth", "byte", "beyond the depth limit of streams";
    /// Bytes of connections that are not reassembled: begun before the capture, or one-sided.
    ReassemblyIgnored = "reassembly_ignored", "byte",
        "of connections that the configuration excludes from reassembly";
    /// Retransmitted bytes that could not be compared with those delivered.
    ReassemblyUncompared = "reassembly_uncompared", "byte",
        "repeated after the first copy was discarded: raise compared_memory";
    /// Connections whose identification ended because there was no memory.
    IdentifyMemory = "identify_memory", "connection",
        "not identified, for lack of memory for first bytes: raise --memory";
    /// Directions of streams whose parser did not receive all bytes from before the verdict.
    IdentifyFirstBytes = "identify_first_bytes", "stream",
        "identified after more bytes than are kept: not all is parsed";
    /// Datagrams before a verdict that its parser did not receive.
    IdentifyDatagrams = "identify_datagrams", "datagram",
        "before identification not parsed: more than are kept";
    /// Connections no longer examined because they changed their protocol too often.
    IdentifyChanges = "identify_changes", "connection",
        "no longer followed after too many changes of protocol";
    /// Connections whose HTTP was not parsed because their shard reached its limit.
    HttpConnections = "http_connections", "connection",
        "of HTTP not parsed, too many at once: raise --memory";
    /// Requests or responses without a record because their shard reached its limit.
    HttpTransactions = "http_transactions", "transaction",
        "of HTTP without a record, too many open at once";
    /// Requests that were not paired with their response because too many were waiting.
    HttpPipelined = "http_pipelined", "request",
        "of HTTP without the response, too many waiting on a connection";
    /// Bodies not examined, or not to their end, for lack of memory.
    HttpBodies = "http_bodies", "body",
        "of HTTP not decoded, hashed or extracted, for lack of memory";
    /// Bodies in more codings than are decoded.
    HttpEncodings = "http_encodings", "body", "of HTTP not decoded, in more codings than the limit";
    /// Stream bytes that rules were not compared with.
    RuleStreamBytes = "rule_stream_bytes", "byte",
        "of streams that rules did not examine whole, for lack of memory: raise --memory";
    /// Bytes of bodies that rules were not compared with.
    RuleBodyBytes = "rule_body_bytes", "byte",
        "of bodies that rules did not examine, for lack of memory: raise --memory";
    /// Forms that go on behind what rules were compared with.
    RuleForms = "rule_forms", "form",
        "of which rules examined the first 100 KiB alone: files after that fit no rule";
    /// Connections that rules about FTP's data did not see as such.
    RuleAnnounced = "rule_announced", "connection",
        "of FTP's data known by their announcement alone: rules on ftp-data do not see them";
    /// Evaluations of rules that were given up.
    RuleSteps = "rule_steps", "evaluation", "of rules given up: more than 3,000 steps each";
    /// Regular expressions of rules that were given up.
    RulePcre = "rule_pcre", "evaluation",
        "of rules given up: an expression reached its match limit";
    /// Flowbits that were not kept.
    RuleBits = "rule_bits", "flowbit", "not set: a connection has at most 16 bits and 4 numbers";
    /// Counts and bits of hosts that were not kept.
    RuleHosts = "rule_hosts", "count",
        "or bit of a host not kept: more than 1,048,576 at a time; such alerts are not limited";
    /// Values that were not added to sets of rules.
    RuleSets = "rule_sets", "value",
        "not added to a set that rules write: more than 96 MiB; rules do not find it there";
    /// Alerts of packets without a connection beyond those that some packets may have.
    RulePackets = "rule_packets", "alert",
        "of packets without a connection left out: more than 16,384 in 4,096 packets";
    /// Bodies that were not extracted because their shard reached its limit of files.
    HttpFiles = "http_files", "file", "reported but not extracted: more than the limit of a run";
    /// Bytes of extracted files beyond the limit of their shard.
    HttpFileBytes = "http_file_bytes", "byte",
        "missing at the end of extracted files: more than the limit of a run";
    /// Files of a form beyond those that one form may have.
    HttpFormFiles = "http_form_files", "file", "of forms not reported: more than 64 in one form";
    /// Texts of HTTP that were cut or omitted.
    HttpTexts = "http_texts", "text", "of HTTP cut or omitted: longer than the limit, or no memory";
    /// WebSockets not examined because their shard reached its limit.
    WebSocketConnections = "websocket_connections", "WebSocket",
        "whose contents are not parsed, too many at once";
    /// DNS connections not followed because their shard reached its limit.
    DnsConnections = "dns_connections", "connection", "of DNS not parsed, too many at once";
    /// Bytes of DNS messages over TCP discarded because their shard's memory was full.
    DnsMemory = "dns_memory", "byte", "of incomplete DNS messages discarded for lack of memory";
    /// DNS queries written without waiting for their response, because too many were waiting.
    DnsQueries = "dns_queries", "query", "of DNS written without the response, too many waiting";
    /// DNS messages whose records are not all shown.
    DnsText = "dns_text", "message", "of DNS with records omitted: more text than the limit";
    /// FIX connections not followed because their shard reached its limit.
    FixConnections = "fix_connections", "connection", "of FIX not parsed, too many at once";
    /// Bytes of FIX messages discarded because their shard's memory was full.
    FixMemory = "fix_memory", "byte", "of incomplete FIX messages discarded for lack of memory";
    /// FIX messages whose fields were not all kept.
    FixFields = "fix_fields", "message", "of FIX with fields omitted: more than the limit";
    /// FIX orders whose latency is unknown because too many were waiting for a report.
    FixOrders = "fix_orders", "order", "of FIX without latency, too many waiting for a report";
    /// FTP control connections not followed because their shard reached its limit.
    FtpConnections = "ftp_connections", "control connection", "of FTP not parsed, too many at once";
    /// FTP commands without a record because too many were waiting for their reply.
    FtpCommands = "ftp_commands", "command",
        "of FTP without a record, too many waiting on a connection";
    /// FTP commands and replies that were cut or omitted.
    FtpText = "ftp_text", "text",
        "of FTP commands or replies cut: longer than the limit, or no memory";
    /// Announcements of FTP data connections forgotten because there were too many.
    FtpDataForgotten = "ftp_data_forgotten", "announcement",
        "of FTP data connections forgotten, too many at once";
    /// Handshakes of TLS and QUIC not parsed because their shard reached its limit.
    TlsHandshakes = "tls_handshakes", "handshake",
        "of TLS or QUIC not parsed, too many at once: raise --memory";
    /// Parts of handshake messages of TLS and QUIC without room in memory.
    TlsMemory = "tls_memory", "part",
        "of TLS or QUIC handshakes discarded for lack of memory: records are incomplete";
    /// Certificates that Zeek's logs do not have, or whose names they do not all have.
    TlsCertificates = "tls_certificates", "certificate",
        "of TLS cut or missing in Zeek's logs: longer chains, lists or names than the limits";
    /// Records of what is written once a day that may be written again: too many different ones.
    OnceForgotten = "once_forgotten", "record",
        "of Zeek's x509 forgotten within a day, too many at once: they may be written again";
    /// Connections of a grammar's protocol not followed because their shard reached its limit.
    TextConnections = "text_connections", "connection",
        "of protocols with grammars not parsed, too many at once";
    /// Mails whose parts were not read.
    MailBodies = "mail_bodies", "mail",
        "whose parts were not read for lack of memory: raise --memory";
    /// Parts of mails without a record.
    MailParts = "mail_parts", "file", "of mails not reported: more than 64 in one mail";
    /// Parts of mails that were not divided.
    MailNested = "mail_nested", "multipart",
        "of mails taken for one file: more than 8 within each other";
    /// Heads of parts of mails that were not read to the end.
    MailHeads = "mail_heads", "head", "of parts of mails read in part: longer than the limit";
    /// Files of mails that were not written.
    MailFiles = "mail_files", "file",
        "of mails reported but not extracted: more than the limit of a run";
    /// Bytes of files of mails that were not written.
    MailFileBytes = "mail_file_bytes", "byte",
        "of files of mails not extracted: beyond the limits of a file or a run";
    /// Texts captured by a grammar that were cut or not kept.
    TextMemory = "text_memory", "text",
        "captured by grammars cut or omitted: longer than the limit, or no memory";
    /// Questions written without waiting for their answer, because too many were waiting.
    TextQuestions = "text_questions", "message", "of grammars without the answer, too many waiting";
    /// Connections of a protocol not followed because their shard reached its limit, for parsers
    /// without a counter of their own.
    ParserConnections = "parser_connections", "connection",
        "not parsed, too many of a protocol at once: raise --memory";
    /// Bytes of messages that were not kept, by parsers without a counter of their own.
    ParserBytes = "parser_bytes", "byte",
        "of messages cut or omitted: longer than the limit, or no memory";
    /// Tunnels whose totals could not be kept.
    TunnelsUntracked = "tunnels_untracked", "tunnel", "without totals, too many at once";
    /// Anomaly records not written because there were too many of one reason.
    AnomaliesSuppressed = "anomalies_suppressed", "anomaly record",
        "omitted because of the rate limit";
    /// Forward leaps of the capture's clock that were not believed.
    ClockLeaps = "clock_leaps_clamped", "forward leap",
        "of the capture's clock not believed, as the next packet was not so far ahead";
    /// Records not written because the output's size limit was reached.
    RecordsOverLimit = "records_over_limit", "record",
        "not written: the output reached its size limit";
    /// Records that no program took and no spool could hold.
    RecordsNotSent = "records_not_sent", "record",
        "not sent: the program of --output was away or slow: use --spool, or raise --spool-size";
    /// Bytes of streams not written because the files' size limit was reached.
    StreamBytesOverLimit = "stream_bytes_over_limit", "byte",
        "of streams not written: all files together reached their size limit";
    /// Streams not written at all because there were too many files, or bytes in them.
    StreamFilesOverLimit = "stream_files_over_limit", "stream",
        "not written: the limit of files, or of all their bytes, was reached";
    /// Bytes of long gaps that are not filled in files.
    StreamGapsShortened = "stream_gap_bytes_left_out", "byte",
        "of gaps too long to be filled in files";
    /// Connection attempts beyond a shard's rate limit, which scan detection only counted.
    ScanAttemptsSummed = "scan_attempts_summed", "attempt",
        "to connect above the rate limit: scans among them are estimated";
    /// Sources that scan detection forgot because there were too many.
    ScanSourcesForgotten = "scan_sources_forgotten", "source",
        "forgotten by scan detection, too many at once: least active first";
    /// Sources that had been silent for a window, and would have been watched for slow scans.
    ScanSlowForgotten = "scan_slow_sources_forgotten", "silent source",
        "forgotten by the detection of slow scans, too many at once";
    /// Hosts that scan detection forgot because there were too many.
    ScanVictimsForgotten = "scan_victims_forgotten", "host",
        "forgotten by the detection of distributed scans, too many at once";
    /// Targets forgotten by scan detection, for sources that fail often but do not scan.
    ScanTargetsForgotten = "scan_targets_forgotten", "target",
        "forgotten, of sources with many failures but no scan pattern";
    /// Connections that a scanner used and that scan detection no longer knew when it recognised
    /// the scan, or could not keep until its next probe.
    ScanUsedForgotten = "scan_used_forgotten", "used connection",
        "of scanners forgotten: open ports may be missing";
    /// Scans that were recognised and not followed because there were too many.
    ScansUntracked = "scans_untracked", "scan", "not followed, too many at once";
    /// Floods that were recognised and not followed because there were too many.
    FloodsUntracked = "floods_untracked", "flood", "not followed, too many at once";
    /// Ends of connections whose address has no exact row in the summary.
    AddressesSummed = "addresses_summed", "connection end",
        "without exact totals of the address: top talkers may be estimates";
    /// Connections whose pair of hosts has no exact row in the summary.
    HostPairsSummed = "host_pairs_summed", "connection",
        "without exact totals of the host pair: top pairs may be estimates";
    /// Connections whose VLAN has no exact row in the summary.
    VlansSummed = "vlans_summed", "connection",
        "without exact totals of the VLAN: top VLANs may be estimates";
    /// Packets of recorded connections that had left memory when that was decided.
    RecordedTooLate = "recorded_too_late", "packet",
        "missing in the recording, gone when it began for their connection: raise --record-before";
    /// Packets whose recording was decided before all records were known.
    RecordedUnsure = "recorded_unsure", "packet",
        "recorded or dropped before all records up to them were known: raise --record-before";
    /// Packets that reached a worker which does not own their shard: a defect.
    Misdirected = "packets_misdirected", "packet",
        "sent to the wrong worker: a defect, please report it";
}

const LEN: usize = Loss::ALL.len();

/// One counter for each [`Loss`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Losses {
    counts: [u64; LEN],
}

impl Default for Losses {
    fn default() -> Self {
        Self { counts: [0; LEN] }
    }
}

impl Losses {
    /// Counts `count` more.
    #[inline]
    pub fn count(&mut self, loss: Loss, count: u64) {
        if let Some(counter) = self.counts.get_mut(loss as usize) {
            *counter += count;
        }
    }

    /// The counter of one reason.
    #[inline]
    pub fn of(&self, loss: Loss) -> u64 {
        self.counts.get(loss as usize).copied().unwrap_or(0)
    }

    /// Adds another core's counts.
    pub fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts) {
            *mine += theirs;
        }
    }

    /// The counters that are not 0.
    pub fn iter(&self) -> impl Iterator<Item = (Loss, u64)> + '_ {
        Loss::ALL
            .iter()
            .zip(self.counts)
            .filter(|&(_, count)| count > 0)
            .map(|(&l, c)| (l, c))
    }
}
