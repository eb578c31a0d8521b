//! What a configuration file or a command line says: every key optional.
//!
//! ```text
//!  defaults ◄─overlaid by─ file ◄─overlaid by─ flags ──► Settings ──check──► Plan
//! ```

use crate::hosts::{group_settings, host_settings, hosts_plan};
use crate::{
    ByteSize, Checksums, ConfigError, CpuList, Cut, Format, FragmentOverlap, FullRing, Input,
    NetworkText, OutputPlan, ParquetTime, PipelineShape, Plan, SegmentOverlap, Span, System,
    Timeouts,
};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

macro_rules! sections {
    ($($(#[$meta:meta])* $name:ident {
        $($(#[$fmeta:meta])* $field:ident: $ty:ty,)*
    })*) => { $(
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name {
            $($(#[$fmeta])* pub $field: Option<$ty>,)*
        }

        impl $name {
            /// These settings, and `below` where they say nothing.
            #[must_use]
            pub fn over(self, below: Self) -> Self {
                Self { $($field: self.$field.or(below.$field),)* }
            }
        }
    )* };
}

sections! {
    /// `[input]`: what is read.
    InputSettings {
        /// Capture files, directories, `-` for standard input.
        read: Vec<PathBuf>,
        /// A pcap-filter(7) expression.
        filter: String,
        /// Stop after that many packets.
        count: u64,
    }

    /// `[pipeline]`: threads and memory.
    PipelineSettings {
        /// Threads, and what each does.
        shape: PipelineShape,
        /// What the input thread does besides walking, peeling and hashing.
        cut: Cut,
        /// Processors to pin threads to, input first.
        cpus: CpuList,
        /// Connection state and fragments, over all workers.
        memory: ByteSize,
        /// What to do when a worker's ring is full.
        full_ring: FullRing,
        /// The dispatch secret.
        seed: u64,
    }

    /// `[connections]`: how connections are followed.
    ConnectionSettings {
        /// Whether checksums are verified.
        checksums: Checksums,
        /// When a silent connection has ended.
        timeouts: Timeouts,
        /// Stream time between interim records.
        interim: Span,
        /// Keys identifiers and shards.
        id_seed: u64,
        /// Greatest leap of the capture's clock that is believed.
        clock_leap_max: Span,
    }

    /// `[defragmentation]`: caps and keys of fragments.
    DefragmentationSettings {
        /// All fragments that wait.
        memory: ByteSize,
        /// Those of one source address.
        host_memory: ByteSize,
        /// Those of one datagram.
        datagram_memory: ByteSize,
        /// Fragments of one datagram.
        fragments_max: u16,
        /// How long an IPv4 datagram may take.
        timeout: Span,
        /// How long an IPv6 datagram may take.
        ipv6_timeout: Span,
        /// Fragments of different VLANs never belong together.
        by_vlan: bool,
        /// Fragments of different tunnels never belong together.
        by_tunnel: bool,
    }

    /// `[other_hosts]`: what is assumed of hosts that no `[[hosts]]` names.
    HostSettings {
        /// Stands for `fragments` and `segments`.
        system: System,
        /// Overlapping IPv4 fragments.
        fragments: FragmentOverlap,
        /// Overlapping IPv6 fragments.
        ipv6_fragments: FragmentOverlap,
        /// Overlapping segments.
        segments: SegmentOverlap,
    }

    /// `[[hosts]]`: hosts whose system is known.
    HostGroupSettings {
        /// Where they are.
        networks: Vec<NetworkText>,
        /// Stands for `fragments` and `segments`.
        system: System,
        /// Overlapping IPv4 fragments.
        fragments: FragmentOverlap,
        /// Overlapping IPv6 fragments.
        ipv6_fragments: FragmentOverlap,
        /// Overlapping segments.
        segments: SegmentOverlap,
    }

    /// `[streams]`: how TCP streams are put together.
    StreamSettings {
        /// Whether segments are put in order at all.
        enabled: bool,
        /// Bytes behind holes, over all workers.
        memory: ByteSize,
        /// Those of one direction of a connection.
        stream_memory: ByteSize,
        /// How many bytes of each direction are looked at.
        depth: ByteSize,
        /// Delivered bytes that are kept to compare what is sent again, over all workers.
        compared_memory: ByteSize,
        /// Connections that were open when the capture began.
        midstream: bool,
        /// Connections of which the capture has one direction only.
        one_sided: bool,
        /// Segments with an old time stamp are dropped.
        paws: bool,
        /// The urgent byte is read apart.
        urgent_apart: bool,
    }

    /// `[identify]`: which protocols connections speak.
    IdentifySettings {
        /// Whether it is asked at all.
        enabled: bool,
        /// Where the compiled patterns are kept.
        cache: PathBuf,
        /// Files and folders with l7-filter patterns.
        patterns: Vec<PathBuf>,
    }

    /// `[files]`: what is made of bodies of messages.
    FileSettings {
        /// Encoded bodies are decoded first.
        decode: bool,
        /// Records of files have an MD5.
        md5: bool,
        /// Records of files have a SHA-1.
        sha1: bool,
        /// Records of files have a SHA-256.
        sha256: bool,
        /// The directory that files are written to.
        extract: PathBuf,
        /// The most bytes of one file.
        size_max: ByteSize,
        /// The most files of one run.
        count_max: u64,
        /// The most bytes of all files of one run.
        total_max: ByteSize,
    }

    /// `[parse]`: the messages of application protocols.
    ParseSettings {
        /// Whether messages are read at all.
        enabled: bool,
        /// Of which protocols.
        protocols: Vec<String>,
        /// Memory of all parsers, over all workers.
        memory: ByteSize,
        /// Records have every field of a message.
        all_fields: bool,
        /// Files with grammars.
        grammars: Vec<PathBuf>,
        /// Files with names of FIX fields and messages.
        fix_dictionaries: Vec<PathBuf>,
    }

    /// `[scans]`: what counts as a scan or a flood.
    ScanSettings {
        /// Whether scans and floods are looked for.
        enabled: bool,
        /// How far back attempts count.
        window: Span,
        /// How far back those of sources that hardly ever succeed do.
        long_window: Span,
        /// Hosts that fail on one port.
        hosts: u32,
        /// Ports that fail on one host.
        ports: u32,
        /// Hosts and ports that fail, of a source that hardly ever succeeds.
        failures: u32,
        /// Likewise, each another host and another port.
        targets: u32,
        /// Whether answered targets count, too.
        sensitive: bool,
        /// Protocols asked of one host.
        protocols: u32,
        /// SYNs a second to one host.
        syn_rate: u32,
        /// ICMP requests a second to one host.
        icmp_rate: u32,
        /// Datagrams a second to one host.
        udp_rate: u32,
        /// TCP acknowledgements of no connection a second to one host.
        ack_rate: u32,
        /// TCP resets of no connection a second to one host.
        rst_rate: u32,
        /// Who may scan.
        allow_sources: Vec<NetworkText>,
        /// Who may be scanned and flooded.
        allow_targets: Vec<NetworkText>,
    }

    /// `[output]`: what is written where.
    OutputSettings {
        /// Where log files go.
        dir: PathBuf,
        /// JSON lines to standard output instead of files.
        stdout: bool,
        /// Formats.
        formats: Vec<Format>,
        /// Community ID in connection records.
        community_id: bool,
        /// Seed of the Community ID.
        community_seed: u16,
        /// No CSV cell is a formula to a spreadsheet.
        csv_safe: bool,
        /// How fine times are in Parquet.
        parquet_time: ParquetTime,
        /// Rotate when the records' time leaves its interval.
        rotate_every: Span,
        /// Rotate before a file grows past this.
        rotate_size: ByteSize,
        /// Stop writing once that much was written in all.
        size_max: ByteSize,
    }
}

/// All that can be set, by section.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// What is read.
    pub input: InputSettings,
    /// Threads and memory.
    pub pipeline: PipelineSettings,
    /// How connections are followed.
    pub connections: ConnectionSettings,
    /// Caps and keys of fragments.
    pub defragmentation: DefragmentationSettings,
    /// How TCP streams are put together.
    pub streams: StreamSettings,
    /// Which protocols connections speak.
    pub identify: IdentifySettings,
    /// The messages of application protocols.
    pub parse: ParseSettings,
    /// What is made of bodies of messages.
    pub files: FileSettings,
    /// What counts as a scan or a flood.
    pub scans: ScanSettings,
    /// What is assumed of hosts that are not named.
    pub other_hosts: HostSettings,
    /// Hosts whose system is known.
    pub hosts: Vec<HostGroupSettings>,
    /// What is written where.
    pub output: OutputSettings,
}

impl Settings {
    /// These settings, and `below` where they say nothing.
    ///
    /// ```
    /// use flowpin_config::Settings;
    /// let file = Settings::from_toml("[input]\ncount = 10\nfilter = 'tcp'").unwrap();
    /// let flags = Settings::from_toml("[input]\ncount = 3").unwrap();
    /// let both = flags.over(file);
    /// assert_eq!(both.input.count, Some(3));
    /// assert_eq!(both.input.filter.as_deref(), Some("tcp"));
    /// ```
    #[must_use]
    pub fn over(self, below: Self) -> Self {
        Self {
            input: self.input.over(below.input),
            pipeline: self.pipeline.over(below.pipeline),
            connections: self.connections.over(below.connections),
            defragmentation: self.defragmentation.over(below.defragmentation),
            streams: self.streams.over(below.streams),
            identify: self.identify.over(below.identify),
            parse: self.parse.over(below.parse),
            files: self.files.over(below.files),
            scans: self.scans.over(below.scans),
            other_hosts: self.other_hosts.over(below.other_hosts),
            hosts: if self.hosts.is_empty() {
                below.hosts
            } else {
                self.hosts
            },
            output: self.output.over(below.output),
        }
    }

    /// The plan: defaults where nothing is set, and everything checked that can be checked
    /// without opening anything. Asks the file system only which inputs are directories.
    ///
    /// # Errors
    /// Settings that contradict each other or that cannot work.
    pub fn into_plan(self) -> Result<Plan, ConfigError> {
        let defaults = Plan::default();
        let Self {
            input,
            pipeline,
            connections,
            defragmentation,
            streams,
            identify,
            parse,
            files,
            scans,
            other_hosts,
            hosts,
            output,
        } = self;
        let paths = input.read.unwrap_or_default();
        let memory = pipeline.memory.unwrap_or(ByteSize(defaults.memory_bytes));
        let plan = Plan {
            inputs: paths.iter().map(|path| Input::at(path)).collect(),
            settings_file: None,
            filter: input.filter.unwrap_or_default().trim().to_owned(),
            packet_count_max: input.count,
            pipeline: pipeline.shape.unwrap_or_default(),
            cut: pipeline.cut.unwrap_or_default(),
            cpus: pipeline.cpus.unwrap_or_default().0,
            checksums: connections.checksums.unwrap_or_default(),
            full_ring: pipeline.full_ring.unwrap_or_default(),
            timeouts: connections.timeouts.unwrap_or_default(),
            interim_ns: connections.interim.map(|span| span.0),
            memory_bytes: memory.0,
            id_seed: connections.id_seed.unwrap_or(defaults.id_seed),
            dispatch_seed: pipeline.seed,
            clock_leap_max_ns: connections
                .clock_leap_max
                .map_or(defaults.clock_leap_max_ns, |span| span.0),
            defragmentation: defragmentation.into(),
            streams: streams.into(),
            identify: identify.into(),
            parse: parse.into(),
            files: files.into(),
            scans: scans.into(),
            hosts: hosts_plan(hosts, &other_hosts),
            output: output_plan(output, defaults.output),
        };
        check(&plan)?;
        Ok(plan)
    }
}

/// The settings that lead to `plan`: for `--print-config`.
impl From<&Plan> for Settings {
    fn from(plan: &Plan) -> Self {
        let output = &plan.output;
        Self {
            input: InputSettings {
                read: Some(plan.inputs.iter().map(path_of).collect()),
                filter: Some(plan.filter.clone()),
                count: plan.packet_count_max,
            },
            pipeline: PipelineSettings {
                shape: Some(plan.pipeline),
                cut: Some(plan.cut),
                cpus: (!plan.cpus.is_empty()).then(|| CpuList(plan.cpus.clone())),
                memory: Some(ByteSize(plan.memory_bytes)),
                full_ring: Some(plan.full_ring),
                seed: plan.dispatch_seed,
            },
            connections: ConnectionSettings {
                checksums: Some(plan.checksums),
                timeouts: Some(plan.timeouts),
                interim: plan.interim_ns.map(Span),
                id_seed: Some(plan.id_seed),
                clock_leap_max: Some(Span(plan.clock_leap_max_ns)),
            },
            defragmentation: (&plan.defragmentation).into(),
            streams: (&plan.streams).into(),
            identify: (&plan.identify).into(),
            parse: (&plan.parse).into(),
            files: (&plan.files).into(),
            scans: (&plan.scans).into(),
            other_hosts: host_settings(&plan.hosts.others),
            hosts: plan.hosts.groups.iter().map(group_settings).collect(),
            output: OutputSettings {
                dir: Some(output.dir.clone()),
                stdout: Some(output.to_stdout),
                formats: Some(output.formats.clone()),
                community_id: Some(output.community_id),
                community_seed: Some(output.community_seed),
                csv_safe: Some(output.csv_safe),
                parquet_time: Some(output.parquet_time),
                rotate_every: output.rotate_every_ns.map(Span),
                rotate_size: output.rotate_bytes_max.map(ByteSize),
                size_max: output.total_bytes_max.map(ByteSize),
            },
        }
    }
}

fn output_plan(settings: OutputSettings, defaults: OutputPlan) -> OutputPlan {
    let mut formats = Vec::new();
    for format in settings.formats.unwrap_or(defaults.formats) {
        if !formats.contains(&format) {
            formats.push(format);
        }
    }
    OutputPlan {
        dir: settings.dir.unwrap_or(defaults.dir),
        to_stdout: settings.stdout.unwrap_or(defaults.to_stdout),
        formats,
        community_id: settings.community_id.unwrap_or(defaults.community_id),
        community_seed: settings.community_seed.unwrap_or(defaults.community_seed),
        csv_safe: settings.csv_safe.unwrap_or(defaults.csv_safe),
        parquet_time: settings.parquet_time.unwrap_or(defaults.parquet_time),
        rotate_every_ns: settings.rotate_every.map(|span| span.0),
        rotate_bytes_max: settings.rotate_size.map(|size| size.0),
        total_bytes_max: settings.size_max.map(|size| size.0),
        replace: defaults.replace,
    }
}

fn path_of(input: &Input) -> PathBuf {
    match input {
        Input::File(path) | Input::Directory(path) => path.clone(),
        Input::Stdin => PathBuf::from("-"),
    }
}

fn check(plan: &Plan) -> Result<(), ConfigError> {
    let stdin_count = plan
        .inputs
        .iter()
        .filter(|input| **input == Input::Stdin)
        .count();
    if stdin_count > 1 {
        return Err(ConfigError::StdinTwice);
    }
    if plan.packet_count_max == Some(0) {
        return Err(ConfigError::Zero("the packet count (-n)"));
    }
    if plan.memory_bytes < Plan::MEMORY_BYTES_MIN {
        return Err(ConfigError::MemoryTooSmall(ByteSize(plan.memory_bytes)));
    }
    for (value, what) in [
        (plan.interim_ns, "the interim interval"),
        (Some(plan.clock_leap_max_ns), "clock_leap_max"),
        (plan.output.rotate_every_ns, "the rotation interval"),
        (plan.output.rotate_bytes_max, "the rotation size"),
        (plan.output.total_bytes_max, "the output's size limit"),
    ] {
        if value == Some(0) {
            return Err(ConfigError::Zero(what));
        }
    }
    if let Some(what) = plan.streams.zero() {
        return Err(ConfigError::Zero(what));
    }
    if let Some(what) = plan.scans.zero() {
        return Err(ConfigError::Zero(what));
    }
    if let Some(what) = plan.defragmentation.zero() {
        return Err(ConfigError::Zero(what));
    }
    let mut groups = plan.hosts.groups.iter();
    if let Some(index) = groups.position(|group| group.networks.is_empty()) {
        return Err(ConfigError::HostsNowhere(index + 1));
    }
    if let Some(network) = plan.hosts.repeated() {
        return Err(ConfigError::NetworkTwice(network));
    }
    check_formats(&plan.output)
}

fn check_formats(output: &OutputPlan) -> Result<(), ConfigError> {
    if output.formats.is_empty() {
        return Err(ConfigError::NoFormat);
    }
    if output.formats.contains(&Format::None) && output.formats.len() > 1 {
        return Err(ConfigError::NoneAmongFormats);
    }
    if output.to_stdout && output.formats != [Format::Eve] {
        return Err(ConfigError::NotEve);
    }
    if output.to_stdout && (output.rotate_every_ns.is_some() || output.rotate_bytes_max.is_some()) {
        return Err(ConfigError::RotatedStdout);
    }
    Ok(())
}

impl Plan {
    /// Less memory than this cannot hold the tables of one worker.
    pub const MEMORY_BYTES_MIN: u64 = 1 << 20;
}

#[cfg(test)]
mod tests {
    use super::Settings;
    use crate::{ConfigError, Plan};

    fn plan(text: &str) -> Result<Plan, ConfigError> {
        Settings::from_toml(text).unwrap().into_plan()
    }

    /// Nothing said is the defaults, so that one place defines them: `Plan::default`.
    #[test]
    fn no_settings_are_the_default_plan() {
        assert_eq!(plan("").unwrap(), Plan::default());
    }

    /// What the effective configuration prints, read again, is the same plan.
    #[test]
    fn settings_of_a_plan_lead_back_to_it() {
        let text = "[input]\nread = ['-']\nfilter = 'tcp'\ncount = 9\n\
            [pipeline]\nshape = '2x3'\ncut = 'l3'\ncpus = '0-2'\nmemory = '64 MiB'\nseed = 4\n\
            [connections]\nchecksums = 'none'\ntimeouts = 'none'\ninterim = '5 min'\n\
            [defragmentation]\nmemory = '9 MiB'\nby_vlan = true\n\
            [streams]\nmemory = '3 MiB'\ndepth = '1 MiB'\npaws = false\n\
            [identify]\nenabled = false\ncache = 'there'\npatterns = ['p', 'q.pat']\n\
            [parse]\nenabled = false\nprotocols = ['dns', 'sip']\nmemory = '7 MiB'\n\
            all_fields = true\ngrammars = ['g.l']\n\
            fix_dictionaries = ['a.xml', 'b.xml']\n\
            [files]\nmd5 = true\nextract = 'there'\nsize_max = '1 MiB'\n\
            count_max = 5\ntotal_max = '9 MiB'\n\
            [scans]\nenabled = false\nports = 7\nallow_sources = ['10.0.0.0/8']\n\
            [other_hosts]\nsystem = 'bsd'\nipv6_fragments = 'last'\n\
            [[hosts]]\nnetworks = ['10.0.0.0/8', '::/0']\nsystem = 'linux'\nsegments = 'vista'\n\
            [[hosts]]\nnetworks = ['10.1.0.0/16']\nfragments = 'bsd-right'\n\
            [output]\nformats = ['zeek', 'csv', 'zeek']\nrotate_every = '1 h'";
        let first = plan(text).unwrap();
        let again = Settings::from(&first).into_plan().unwrap();
        assert_eq!(first, again);
        assert_eq!(first.output.formats.len(), 2, "a format twice is one");
    }

    /// A pipe takes EVE JSON: every other format has a file for each type of record, or none.
    #[test]
    fn standard_output_takes_eve_only() {
        for formats in [
            "['csv']",
            "['zeek']",
            "['zeek-json']",
            "['parquet']",
            "['none']",
            "['eve', 'zeek-json']",
        ] {
            let text = format!("[output]\nstdout = true\nformats = {formats}");
            assert!(matches!(plan(&text), Err(ConfigError::NotEve)), "{formats}");
        }
        assert!(plan("[output]\nstdout = true\nformats = ['eve', 'eve']").is_ok());
    }

    /// Contradictions are refused before anything is opened.
    #[test]
    fn contradictions_are_refused() {
        for text in [
            "[input]\nread = ['-', '-']",
            "[input]\ncount = 0",
            "[pipeline]\nmemory = '1 KiB'",
            "[connections]\ninterim = '0 s'",
            "[defragmentation]\nmemory = '0 B'",
            "[streams]\nmemory = '0 B'",
            "[scans]\nhosts = 0",
            "[[hosts]]\nsystem = 'linux'",
            "[[hosts]]\nnetworks = ['::/0', '10.0.0.0/8', '::/0']",
            "[output]\nformats = []",
            "[output]\nformats = ['none', 'eve']",
            "[output]\nstdout = true\nrotate_every = '1 h'",
        ] {
            assert!(plan(text).is_err(), "{text}");
        }
    }
}
