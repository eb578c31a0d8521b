//! Which losses come from limits that connections share.

use flowpin_counters::Loss;

/// Whether the limit is one that connections share, or one of memory: what is lost then depends on
/// what else there is on the same machine, so that one run may have lost something else. Other
/// losses are the same however a run is divided; some of them only unless it is divided in
/// [slices](super::Slice), too, as these depend on a shard's other connections.
pub const fn is_shared(loss: Loss, in_slices: bool) -> bool {
    match loss {
        Loss::ConnectionsEvicted
        | Loss::FragmentMemory
        | Loss::FragmentHostMemory
        | Loss::ReassemblyMemory
        | Loss::ReassemblyRoom
        | Loss::IdentifyMemory
        | Loss::HttpConnections
        | Loss::HttpTransactions
        | Loss::HttpBodies
        | Loss::HttpTexts
        | Loss::WebSocketConnections
        | Loss::DnsConnections
        | Loss::DnsMemory
        | Loss::FixConnections
        | Loss::FixMemory
        | Loss::FtpConnections
        | Loss::FtpText
        | Loss::FtpDataForgotten
        | Loss::TlsHandshakes
        | Loss::TlsMemory
        | Loss::TextConnections
        | Loss::TextMemory
        | Loss::MailBodies
        | Loss::RuleStreamBytes
        | Loss::RuleBodyBytes
        | Loss::ParserConnections
        | Loss::ParserBytes
        | Loss::TunnelsUntracked
        | Loss::ScanAttemptsSummed
        | Loss::ScanSourcesForgotten
        | Loss::ScanSlowForgotten
        | Loss::ScanVictimsForgotten
        | Loss::ScanTargetsForgotten
        | Loss::ScanUsedForgotten
        | Loss::ScansUntracked
        | Loss::FloodsUntracked
        // A defect, whatever the records are.
        | Loss::Misdirected => true,
        // Of one connection, datagram, message or file: the same wherever it is analysed.
        Loss::FragmentTimeout
        | Loss::FragmentCount
        | Loss::FragmentOverlap
        | Loss::FragmentDatagramMemory
        | Loss::ReassemblyStream
        | Loss::ReassemblyDepth
        | Loss::ReassemblyIgnored
        | Loss::IdentifyFirstBytes
        | Loss::IdentifyDatagrams
        | Loss::IdentifyChanges
        | Loss::HttpPipelined
        | Loss::HttpEncodings
        | Loss::HttpFormFiles
        | Loss::DnsQueries
        | Loss::DnsText
        | Loss::FixFields
        | Loss::FixOrders
        | Loss::FtpCommands
        | Loss::TextQuestions
        | Loss::MailParts
        | Loss::MailNested
        | Loss::MailHeads
        | Loss::RuleForms
        | Loss::RuleAnnounced
        | Loss::RuleSteps
        | Loss::RulePcre
        | Loss::RuleBits => false,
        // Of what one task decides, in the order in which one run does.
        Loss::RuleHosts | Loss::RuleSets | Loss::RulePackets => false,
        Loss::AnomaliesSuppressed | Loss::ReassemblyUncompared => in_slices,
        // Of the whole input, and told by who adds up its splits.
        Loss::ClockLeaps => false,
        // Of summaries and logs, which a divided run has not.
        Loss::AddressesSummed
        | Loss::HostPairsSummed
        | Loss::VlansSummed
        | Loss::TlsCertificates
        | Loss::OnceForgotten
        | Loss::RecordsOverLimit
        | Loss::RecordsNotSent
        | Loss::StreamBytesOverLimit
        | Loss::StreamFilesOverLimit
        | Loss::StreamGapsShortened => false,
        // Of live captures and extracted files, with which no run is divided.
        Loss::RingFull
        | Loss::QueuesAdded
        | Loss::ShedBodies
        | Loss::ShedParsing
        | Loss::ShedConnections
        | Loss::HttpFiles
        | Loss::HttpFileBytes
        | Loss::MailFiles
        | Loss::MailFileBytes
        | Loss::RecordedTooLate
        | Loss::RecordedUnsure => false,
    }
}
