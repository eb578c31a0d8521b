//! What was lost or shortened, by name: every cap and every full queue has one.

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

            /// What it means and what to do, in one line, for the summary.
            pub const fn explanation(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

losses! {
    /// Packets that a full ring could not take (live input only).
    RingFull = "ring_full", "a worker could not keep up: more workers, or a filter";
    /// Connections that ended early because their shard was full.
    ConnectionsEvicted = "connections_evicted",
        "the connection table was full, the stalest ended early: raise --memory";
    /// Datagrams given up because not all fragments came in time.
    FragmentTimeout = "fragment_timeout", "fragments whose datagram was never complete";
    /// Fragments given up because fragment memory was full.
    FragmentMemory = "fragment_memory", "fragment memory was full, the oldest went: raise --memory";
    /// Fragments of a datagram that had too many.
    FragmentCount = "fragment_count", "a datagram with more fragments than the limit";
    /// Fragments given up because they overlap where that is forbidden.
    FragmentOverlap = "fragment_overlap",
        "fragments that overlap where their receiver allows none, or contradict a length";
    /// Fragments given up because those of one source filled its share of memory.
    FragmentHostMemory = "fragment_host_memory",
        "one source filled its share of fragment memory: see [defragmentation]";
    /// Fragments of a datagram that took more memory than one may.
    FragmentDatagramMemory = "fragment_datagram_memory",
        "a datagram whose fragments take more memory than the limit";
    /// Holes in streams told as gaps because their shard's memory for reassembly was full.
    ReassemblyMemory = "reassembly_memory",
        "memory for segments out of order was full, the oldest holes went: raise --memory";
    /// Holes in streams told as gaps because the stream held its most.
    ReassemblyStream = "reassembly_stream",
        "a stream held more bytes out of order than the limit";
    /// Bytes that a cap left no room for.
    ReassemblyRoom = "reassembly_room", "bytes out of order that there was no room for";
    /// Bytes behind the depth to which streams are reassembled.
    ReassemblyDepth = "reassembly_depth", "bytes behind the depth limit of their stream";
    /// Bytes of connections that are not reassembled: begun before the capture, or one-sided.
    ReassemblyIgnored = "reassembly_ignored",
        "bytes of connections that are not reassembled by configuration";
    /// Bytes sent again that could not be compared with those delivered.
    ReassemblyUncompared = "reassembly_uncompared",
        "bytes sent again whose first copy was no longer kept: raise compared_memory";
    /// Connections whose protocol was not looked for any more because there was no memory.
    IdentifyMemory = "identify_memory",
        "no memory for first bytes of connections not yet identified: raise --memory";
    /// Directions of streams of which a parser was not told all that came before the verdict.
    IdentifyFirstBytes = "identify_first_bytes",
        "streams with more bytes before their protocol was known than are kept: not all is parsed";
    /// Datagrams before a verdict that its parser was not told.
    IdentifyDatagrams = "identify_datagrams",
        "datagrams before their protocol was known, more than are kept: not parsed";
    /// Connections that were not looked at any more because they changed their protocol too often.
    IdentifyChanges = "identify_changes",
        "connections that went on as something else more often than is followed";
    /// Connections whose HTTP was not read because their shard read its most.
    HttpConnections = "http_connections",
        "more connections of HTTP at once than are read: raise --memory";
    /// Requests or responses without a record because their shard had its most.
    HttpTransactions = "http_transactions",
        "more HTTP transactions open at once than the limit: they have no records";
    /// Requests that were not paired with their response because too many waited for one.
    HttpPipelined = "http_pipelined",
        "more requests of one connection waited than the limit: their responses stand alone";
    /// Bodies that were asked for, but not looked at, or not to their end, for want of memory.
    HttpBodies = "http_bodies",
        "no memory for bodies of HTTP, or their transactions: not decoded, hashed or kept";
    /// Bodies in more codings than are undone.
    HttpEncodings = "http_encodings",
        "bodies of HTTP in more codings at once than are undone: left as they came";
    /// Bodies that were to be extracted, beyond the most of a shard.
    HttpFiles = "http_files",
        "more files than are extracted in one run: told, but not written";
    /// Bytes of extracted files beyond the most of a shard.
    HttpFileBytes = "http_file_bytes",
        "more bytes of files than are extracted in one run: the files end before";
    /// Texts of HTTP that were cut or left out.
    HttpTexts = "http_texts", "texts of HTTP longer than the limit, or no memory for them";
    /// WebSockets not looked into because their shard had its most.
    WebSocketConnections = "websocket_connections",
        "more WebSockets at once than are looked into: what they carry is not read";
    /// DNS connections not followed because their shard had its most.
    DnsConnections = "dns_connections",
        "more DNS connections at once than are followed: their messages are not read";
    /// Bytes of DNS messages over TCP given up because their shard's memory was full.
    DnsMemory = "dns_memory",
        "memory for parts of DNS messages was full: those connections are not read on";
    /// DNS queries written without waiting for their response, because too many waited.
    DnsQueries = "dns_queries",
        "too many DNS queries waited for a response: some stand without theirs";
    /// DNS messages of which not all records are shown.
    DnsText = "dns_text", "DNS messages with more text than is kept: records are left out";
    /// FIX connections not followed because their shard had its most.
    FixConnections = "fix_connections",
        "more FIX connections at once than are followed: their messages are not read";
    /// Bytes of FIX messages given up because their shard's memory was full.
    FixMemory = "fix_memory",
        "memory for parts of FIX messages was full: those messages are missing";
    /// FIX messages of which not all fields were kept.
    FixFields = "fix_fields", "FIX messages with more fields than are kept";
    /// FIX orders whose latency is not known because too many waited for a report.
    FixOrders = "fix_orders",
        "FIX orders that waited for a report were forgotten: their latency is missing";
    /// FTP control connections not followed because their shard had its most.
    FtpConnections = "ftp_connections",
        "more FTP control connections at once than are followed: their commands are not read";
    /// FTP commands without a record because too many waited for their reply.
    FtpCommands = "ftp_commands",
        "too many FTP commands of a connection waited for their reply: some have no record";
    /// FTP commands and replies that were cut or left out.
    FtpText = "ftp_text",
        "FTP commands or replies longer than the limit, or no memory for them: they are cut";
    /// Announcements of FTP data connections forgotten because there were too many.
    FtpDataForgotten = "ftp_data_forgotten",
        "too many announced FTP data connections were waited for: some may not be named";
    /// Handshakes of TLS and QUIC not read because their shard had its most.
    TlsHandshakes = "tls_handshakes",
        "more handshakes of TLS and QUIC at once than are read: raise --memory";
    /// Parts of handshake messages of TLS and QUIC that there was no room for.
    TlsMemory = "tls_memory",
        "memory for parts of handshakes of TLS and QUIC was full: records lack what they tell";
    /// Connections of a grammar's protocol not followed because their shard had its most.
    TextConnections = "text_connections",
        "more connections of protocols with grammars at once than are followed";
    /// Texts that a grammar captures and that were not kept, or not whole.
    TextMemory = "text_memory",
        "texts of messages longer than the limit, or no memory for them: they are cut or missing";
    /// Questions written without waiting for their answer, because too many waited.
    TextQuestions = "text_questions",
        "too many messages waited for their answer: some stand without theirs";
    /// Connections of a protocol not followed because their shard had its most: of parsers without
    /// a counter of their own.
    ParserConnections = "parser_connections",
        "more connections of one protocol at once than are followed: raise --memory";
    /// Bytes of messages that were not kept, by parsers without a counter of their own.
    ParserBytes = "parser_bytes",
        "bytes of messages longer than the limit, or no memory for them: they are cut or missing";
    /// Tunnels whose sums could not be kept.
    TunnelsUntracked = "tunnels_untracked", "more tunnels at once than the limit";
    /// Anomaly records not written because there were too many of one reason.
    AnomaliesSuppressed = "anomalies_suppressed", "anomaly records above the rate limit";
    /// Forward leaps of the capture's clock that were clamped.
    ClockLeaps = "clock_leaps_clamped", "the capture's clock leapt forward";
    /// Records not written because the output's size limit was reached.
    RecordsOverLimit = "records_over_limit", "the output reached its size limit";
    /// Bytes of streams not written because the files' size limit was reached.
    StreamBytesOverLimit = "stream_bytes_over_limit",
        "bytes of streams that were not written: all files together reached their size limit";
    /// Streams not written at all because there were too many files, or bytes in them.
    StreamFilesOverLimit = "stream_files_over_limit",
        "streams that were not written: the limit of files, or of all their bytes, was reached";
    /// Bytes by which long gaps in streams are shorter in files than they were.
    StreamGapsShortened = "stream_gap_bytes_left_out",
        "bytes that are missing in the capture, in gaps too long to be filled in files";
    /// Attempts to connect beyond a shard's share of a second that scan detection only summed up.
    ScanAttemptsSummed = "scan_attempts_summed",
        "so many new connections a second that scans among them are estimated";
    /// Sources that scan detection forgot because there were too many.
    ScanSourcesForgotten = "scan_sources_forgotten",
        "more sources than are watched for scans; those that asked least were forgotten";
    /// Sources that had been quiet for a window, and would have been watched for slow scans.
    ScanSlowForgotten = "scan_slow_sources_forgotten",
        "more sources than are watched for slow scans; those that were quiet were forgotten";
    /// Hosts that scan detection forgot because there were too many.
    ScanVictimsForgotten = "scan_victims_forgotten",
        "more hosts than are watched for distributed scans; those asked least were forgotten";
    /// Targets that scan detection forgot: of sources that fail often, but do not scan.
    ScanTargetsForgotten = "scan_targets_forgotten",
        "a source failed at more targets than are kept, without a scan's pattern";
    /// Connections that a scanner used and that scan detection no longer knew when it recognised
    /// the scan, or could not keep until its next probe.
    ScanUsedForgotten = "scan_used_forgotten",
        "used connections of scanners were forgotten: open ports among them may be missing";
    /// Scans that were recognised and not followed because there were too many.
    ScansUntracked = "scans_untracked", "more scans at once than the limit";
    /// Floods that were recognised and not followed because there were too many.
    FloodsUntracked = "floods_untracked", "more floods at once than the limit";
    /// Ends of connections whose address has no exact row in the summary.
    AddressesSummed = "addresses_summed",
        "more addresses than have exact totals: talkers beyond are estimated, if heavy";
    /// Connections whose pair of hosts has no exact row in the summary.
    HostPairsSummed = "host_pairs_summed",
        "more pairs of hosts than have exact totals: pairs beyond are estimated, if heavy";
    /// Packets that reached a worker which does not own their shard: a defect.
    Misdirected = "packets_misdirected", "a packet reached the wrong worker: please report it";
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
