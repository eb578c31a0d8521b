//! Named losses: every cap and every full queue has one.

macro_rules! losses {
    ($($(#[$meta:meta])* $variant:ident = $name:literal, $text:literal;)*) => {
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

            /// Its meaning and what to do, in one line, for the summary.
            pub const fn explanation(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

losses! {
    /// Packets that a full ring could not take (live input only).
    RingFull = "ring_full",
        "packets dropped because a worker was too slow: use more workers, or a filter";
    /// Connections that ended early because their shard was full.
    ConnectionsEvicted = "connections_evicted",
        "connections ended early because their table was full: raise --memory";
    /// Fragments discarded because their datagram was not complete in time.
    FragmentTimeout = "fragment_timeout", "fragments of datagrams that were never complete";
    /// Fragments discarded because fragment memory was full.
    FragmentMemory = "fragment_memory",
        "oldest fragments discarded for lack of memory: raise --memory";
    /// Fragments of a datagram that had too many.
    FragmentCount = "fragment_count", "fragments of datagrams with more fragments than the limit";
    /// Fragments discarded because they overlap where that is forbidden.
    FragmentOverlap = "fragment_overlap",
        "fragments that overlap though their receiver forbids it, or contradict a length";
    /// Fragments discarded because their source filled its share of memory.
    FragmentHostMemory = "fragment_host_memory",
        "fragments of sources that filled their share of memory: see [defragmentation]";
    /// Fragments of a datagram that used more memory than the limit.
    FragmentDatagramMemory = "fragment_datagram_memory",
        "fragments of datagrams that use more memory than the limit";
    /// Missing bytes in streams reported as gaps early, because their shard's memory was full.
    ReassemblyMemory = "reassembly_memory",
        "gaps not waited for, for lack of memory for later segments: raise --memory";
    /// Missing bytes in streams reported as gaps early, because the stream reached its limit.
    ReassemblyStream = "reassembly_stream",
        "gaps not waited for, as their stream held more bytes after them than the limit";
    /// Bytes without room, because of a cap.
    ReassemblyRoom = "reassembly_room", "bytes out of order without room in memory";
    /// Bytes beyond the depth to which streams are reassembled.
    ReassemblyDepth = "reassembly_depth", "bytes beyond the depth limit of their stream";
    /// Bytes of connections that are not reassembled: begun before the capture, or one-sided.
    ReassemblyIgnored = "reassembly_ignored",
        "bytes of connections that the configuration excludes from reassembly";
    /// Retransmitted bytes that could not be compared with those delivered.
    ReassemblyUncompared = "reassembly_uncompared",
        "retransmitted bytes whose first copy was no longer kept: raise compared_memory";
    /// Connections whose identification ended because there was no memory.
    IdentifyMemory = "identify_memory",
        "connections not identified for lack of memory for first bytes: raise --memory";
    /// Directions of streams whose parser did not receive all bytes from before the verdict.
    IdentifyFirstBytes = "identify_first_bytes",
        "streams identified after more bytes than are kept: their first bytes are not parsed";
    /// Datagrams before a verdict that its parser did not receive.
    IdentifyDatagrams = "identify_datagrams",
        "datagrams before identification, more than are kept: not parsed";
    /// Connections no longer examined because they changed their protocol too often.
    IdentifyChanges = "identify_changes",
        "connections that changed their protocol more often than the limit";
    /// Connections whose HTTP was not parsed because their shard reached its limit.
    HttpConnections = "http_connections",
        "HTTP connections not parsed, too many at once: raise --memory";
    /// Requests or responses without a record because their shard reached its limit.
    HttpTransactions = "http_transactions",
        "HTTP transactions without a record, too many open at once";
    /// Requests that were not paired with their response because too many were waiting.
    HttpPipelined = "http_pipelined",
        "HTTP requests without their response, too many waiting on one connection";
    /// Bodies not examined, or not to their end, for lack of memory.
    HttpBodies = "http_bodies",
        "HTTP bodies not decoded, hashed or extracted, for lack of memory";
    /// Bodies in more codings than are decoded.
    HttpEncodings = "http_encodings",
        "HTTP bodies not decoded, in more codings than the limit";
    /// Bodies that were not extracted because their shard reached its limit of files.
    HttpFiles = "http_files",
        "files reported but not extracted, more than the limit of the run";
    /// Bytes of extracted files beyond the limit of their shard.
    HttpFileBytes = "http_file_bytes",
        "bytes missing at the end of extracted files, more than the limit of the run";
    /// Texts of HTTP that were cut or omitted.
    HttpTexts = "http_texts", "HTTP texts cut or omitted: longer than the limit, or no memory";
    /// WebSockets not examined because their shard reached its limit.
    WebSocketConnections = "websocket_connections",
        "WebSockets whose contents are not parsed, too many at once";
    /// DNS connections not followed because their shard reached its limit.
    DnsConnections = "dns_connections",
        "DNS connections not parsed, too many at once";
    /// Bytes of DNS messages over TCP discarded because their shard's memory was full.
    DnsMemory = "dns_memory",
        "bytes of partial DNS messages discarded for lack of memory; their parsing ended";
    /// DNS queries written without waiting for their response, because too many were waiting.
    DnsQueries = "dns_queries",
        "DNS queries written without their response, too many waiting";
    /// DNS messages whose records are not all shown.
    DnsText = "dns_text", "DNS messages with records omitted, more text than the limit";
    /// FIX connections not followed because their shard reached its limit.
    FixConnections = "fix_connections",
        "FIX connections not parsed, too many at once";
    /// Bytes of FIX messages discarded because their shard's memory was full.
    FixMemory = "fix_memory",
        "bytes of partial FIX messages discarded for lack of memory";
    /// FIX messages whose fields were not all kept.
    FixFields = "fix_fields", "FIX messages with fields omitted, more than the limit";
    /// FIX orders whose latency is unknown because too many were waiting for a report.
    FixOrders = "fix_orders",
        "FIX orders without latency, too many waiting for a report";
    /// FTP control connections not followed because their shard reached its limit.
    FtpConnections = "ftp_connections",
        "FTP control connections not parsed, too many at once";
    /// FTP commands without a record because too many were waiting for their reply.
    FtpCommands = "ftp_commands",
        "FTP commands without a record, too many waiting on one connection";
    /// FTP commands and replies that were cut or omitted.
    FtpText = "ftp_text",
        "FTP commands or replies cut: longer than the limit, or no memory";
    /// Announcements of FTP data connections forgotten because there were too many.
    FtpDataForgotten = "ftp_data_forgotten",
        "announced FTP data connections forgotten, too many at once: some are not named";
    /// Handshakes of TLS and QUIC not parsed because their shard reached its limit.
    TlsHandshakes = "tls_handshakes",
        "TLS and QUIC handshakes not parsed, too many at once: raise --memory";
    /// Parts of handshake messages of TLS and QUIC without room in memory.
    TlsMemory = "tls_memory",
        "parts of TLS and QUIC handshakes discarded for lack of memory: records are incomplete";
    /// Connections of a grammar's protocol not followed because their shard reached its limit.
    TextConnections = "text_connections",
        "connections of grammars' protocols not parsed, too many at once";
    /// Texts captured by a grammar that were cut or not kept.
    TextMemory = "text_memory",
        "texts captured by grammars cut or omitted: longer than the limit, or no memory";
    /// Questions written without waiting for their answer, because too many were waiting.
    TextQuestions = "text_questions",
        "messages of grammars without their answer, too many waiting";
    /// Connections of a protocol not followed because their shard reached its limit, for parsers
    /// without a counter of their own.
    ParserConnections = "parser_connections",
        "connections of a protocol not parsed, too many at once: raise --memory";
    /// Bytes of messages that were not kept, by parsers without a counter of their own.
    ParserBytes = "parser_bytes",
        "bytes of messages cut or omitted: longer than the limit, or no memory";
    /// Tunnels whose totals could not be kept.
    TunnelsUntracked = "tunnels_untracked", "tunnels without totals, too many at once";
    /// Anomaly records not written because there were too many of one reason.
    AnomaliesSuppressed = "anomalies_suppressed",
        "anomaly records omitted because of the rate limit";
    /// Forward leaps of the capture's clock that were clamped.
    ClockLeaps = "clock_leaps_clamped", "forward leaps of the capture's clock that were limited";
    /// Records not written because the output's size limit was reached.
    RecordsOverLimit = "records_over_limit",
        "records not written, as the output reached its size limit";
    /// Bytes of streams not written because the files' size limit was reached.
    StreamBytesOverLimit = "stream_bytes_over_limit",
        "bytes of streams not written, as all files together reached their size limit";
    /// Streams not written at all because there were too many files, or bytes in them.
    StreamFilesOverLimit = "stream_files_over_limit",
        "streams not written, as the limit of files, or of their bytes, was reached";
    /// Bytes of long gaps that are not filled in files.
    StreamGapsShortened = "stream_gap_bytes_left_out",
        "bytes of gaps too long to be filled in files";
    /// Connection attempts beyond a shard's rate limit, which scan detection only counted.
    ScanAttemptsSummed = "scan_attempts_summed",
        "connection attempts above the rate limit: scans among them are estimated";
    /// Sources that scan detection forgot because there were too many.
    ScanSourcesForgotten = "scan_sources_forgotten",
        "sources forgotten by scan detection, too many at once; least active first";
    /// Sources that had been silent for a window, and would have been watched for slow scans.
    ScanSlowForgotten = "scan_slow_sources_forgotten",
        "silent sources forgotten by the detection of slow scans, too many at once";
    /// Hosts that scan detection forgot because there were too many.
    ScanVictimsForgotten = "scan_victims_forgotten",
        "hosts forgotten by the detection of distributed scans, too many; least tried first";
    /// Targets forgotten by scan detection, for sources that fail often but do not scan.
    ScanTargetsForgotten = "scan_targets_forgotten",
        "targets forgotten for sources that failed at too many, without the pattern of a scan";
    /// Connections that a scanner used and that scan detection no longer knew when it recognised
    /// the scan, or could not keep until its next probe.
    ScanUsedForgotten = "scan_used_forgotten",
        "used connections of scanners forgotten: open ports may be missing";
    /// Scans that were recognised and not followed because there were too many.
    ScansUntracked = "scans_untracked", "scans not followed, too many at once";
    /// Floods that were recognised and not followed because there were too many.
    FloodsUntracked = "floods_untracked", "floods not followed, too many at once";
    /// Ends of connections whose address has no exact row in the summary.
    AddressesSummed = "addresses_summed",
        "connection ends without exact totals of their address: top talkers may be estimates";
    /// Connections whose pair of hosts has no exact row in the summary.
    HostPairsSummed = "host_pairs_summed",
        "connections without exact totals of their host pair: top pairs may be estimates";
    /// Packets that reached a worker which does not own their shard: a defect.
    Misdirected = "packets_misdirected",
        "packets that reached the wrong worker: a defect, please report it";
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
