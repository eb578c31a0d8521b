//! The configuration file: TOML in, settings out; and the effective configuration printed.

use crate::{ConfigError, Settings};
use std::path::Path;

impl Settings {
    /// Reads a configuration file.
    ///
    /// # Errors
    /// The file cannot be read, or says something unknown: with line and column.
    pub fn from_file(path: &Path) -> Result<Self, ConfigError> {
        let text =
            flowpin_disk::read_given_text(path).map_err(|source| ConfigError::Unreadable {
                path: path.to_owned(),
                source,
            })?;
        Self::from_toml(&text).map_err(|error| match error {
            ConfigError::Refused {
                line,
                column,
                message,
                ..
            } => ConfigError::Refused {
                path: Some(path.to_owned()),
                line,
                column,
                message,
            },
            other => other,
        })
    }

    /// Reads settings from TOML.
    ///
    /// # Errors
    /// The text is not TOML or says something unknown: with line and column.
    pub fn from_toml(text: &str) -> Result<Self, ConfigError> {
        toml::from_str(text).map_err(|error: toml::de::Error| {
            let offset = error.span().map_or(0, |span| span.start);
            let (line, column) = place(text, offset);
            ConfigError::Refused {
                path: None,
                line,
                column,
                message: one_line(error.message()),
            }
        })
    }

    /// The settings as a commented configuration file; what is not set is commented out.
    ///
    /// ```
    /// use flowpin_config::{Plan, Settings};
    /// let text = Settings::from(&Plan::default()).to_commented_toml();
    /// assert!(text.contains("memory = \"1 GiB\""));
    /// assert_eq!(Settings::from_toml(&text).unwrap().into_plan().unwrap(), Plan::default());
    /// ```
    pub fn to_commented_toml(&self) -> String {
        // A struct of strings, numbers and lists always serialises.
        let table = toml::Table::try_from(self).unwrap_or_default();
        let mut out = String::from("# Flowpin's configuration: `flowpin run -c THIS_FILE`.\n");
        for (section, keys) in KEYS {
            out.push_str(&format!("\n[{section}]\n"));
            let values = table.get(*section).and_then(toml::Value::as_table);
            for (key, example, comment) in *keys {
                match values.and_then(|values| values.get(*key)) {
                    Some(value) => out.push_str(&format!("# {comment}\n{key} = {value}\n")),
                    None => out.push_str(&format!("# {comment}\n# {key} = {example}\n")),
                }
            }
        }
        self.write_hosts(&mut out);
        out
    }

    /// `[[hosts]]`, as many as there are; an example if there are none.
    fn write_hosts(&self, out: &mut String) {
        out.push_str(HOSTS_COMMENT);
        for group in &self.hosts {
            let table = toml::Table::try_from(group).unwrap_or_default();
            out.push_str("\n[[hosts]]\n");
            for (key, value) in &table {
                out.push_str(&format!("{key} = {value}\n"));
            }
        }
        if self.hosts.is_empty() {
            out.push_str(HOSTS_EXAMPLE);
        }
    }
}

/// Line and column, both from 1, of a byte offset.
fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
    (before.matches('\n').count() + 1, column)
}

fn one_line(message: &str) -> String {
    let lines: Vec<&str> = message.lines().map(str::trim).collect();
    lines.join("; ")
}

const HOSTS_COMMENT: &str = "
# Hosts whose system is known: how they resolve overlapping fragments and segments. Of networks
# inside each other the longest counts. Keys: those of [other_hosts], and `networks`.
";
const HOSTS_EXAMPLE: &str = "
# [[hosts]]
# networks = [\"10.0.0.0/8\", \"2001:db8::/32\"]
# system = \"linux\"
";

type Key = (&'static str, &'static str, &'static str);

/// Every key: its section, an example, what it means.
const KEYS: &[(&str, &[Key])] = &[
    (
        "input",
        &[
            (
                "read",
                "[\"a.pcap\"]",
                "Capture files and directories, in order; \"-\" is standard input.",
            ),
            (
                "filter",
                "\"tcp port 80\"",
                "Only packets that pass this pcap-filter(7) expression.",
            ),
            ("count", "1000", "Stop after that many packets."),
        ],
    ),
    (
        "pipeline",
        &[
            (
                "shape",
                "\"2x3\"",
                "\"auto\", \"1x1\", \"2xN\" (input, N workers) or \"3xN\" (and output).",
            ),
            (
                "cut",
                "\"l2\"",
                "What the input thread does: \"capture\", \"l2\" or \"l3\".",
            ),
            (
                "cpus",
                "\"0,2-5\"",
                "Processors to pin threads to, input first; chosen if not set.",
            ),
            (
                "memory",
                "\"1 GiB\"",
                "For connections and fragments, over all workers.",
            ),
            (
                "full_ring",
                "\"wait\"",
                "When a worker is behind: \"wait\" or \"drop\" (counted).",
            ),
            (
                "seed",
                "1",
                "Dispatch secret; chosen if not set. No record depends on it.",
            ),
        ],
    ),
    (
        "connections",
        &[
            (
                "checksums",
                "\"all\"",
                "Verify checksums: \"all\" or \"none\".",
            ),
            (
                "timeouts",
                "\"zeek\"",
                "Whose: \"zeek\", \"suricata\" or \"none\".",
            ),
            (
                "interim",
                "\"5 min\"",
                "Interim records of connections longer than this; none if not set.",
            ),
            (
                "id_seed",
                "0",
                "Keys uid and flow_id: the same seed, the same identifiers.",
            ),
            (
                "clock_leap_max",
                "\"1 h\"",
                "Greatest leap of the capture's clock that is believed.",
            ),
        ],
    ),
    (
        "defragmentation",
        &[
            (
                "memory",
                "\"256 MiB\"",
                "For fragments that wait; a quarter of all memory if not set, 512 MiB at most.",
            ),
            (
                "host_memory",
                "\"64 MiB\"",
                "For fragments from one address; no limit of its own if not set.",
            ),
            (
                "datagram_memory",
                "\"128 KiB\"",
                "For the fragments of one datagram.",
            ),
            (
                "fragments_max",
                "1024",
                "Fragments of one datagram: what has more is not put together.",
            ),
            (
                "timeout",
                "\"30 s\"",
                "Capture time that an IPv4 datagram may take from its first fragment on.",
            ),
            ("ipv6_timeout", "\"60 s\"", "As above, for IPv6."),
            (
                "by_vlan",
                "false",
                "Never put fragments of different VLANs together.",
            ),
            (
                "by_tunnel",
                "false",
                "Never put fragments of different tunnels together.",
            ),
        ],
    ),
    (
        "other_hosts",
        &[
            (
                "system",
                "\"windows\"",
                "What hosts run that no [[hosts]] names; stands for the overlap policies.",
            ),
            (
                "fragments",
                "\"first\"",
                "IPv4: first, last, bsd, bsd-right, linux, windows, solaris, refuse.",
            ),
            (
                "ipv6_fragments",
                "\"refuse\"",
                "IPv6: as above; no system stands for it, as RFC 5722 forbids overlaps.",
            ),
            (
                "segments",
                "\"first\"",
                "Overlapping TCP segments: first, last, bsd, linux, old-linux, windows, vista, …",
            ),
        ],
    ),
    (
        "streams",
        &[
            ("enabled", "true", "Put TCP segments in order."),
            (
                "memory",
                "\"128 MiB\"",
                "Bytes behind holes, over all workers; an eighth of the memory if not set.",
            ),
            (
                "stream_memory",
                "\"1 MiB\"",
                "The most of it for one direction of a connection.",
            ),
            (
                "depth",
                "\"0 B\"",
                "How many bytes of each direction are looked at; 0: all.",
            ),
            (
                "compared_memory",
                "\"0 B\"",
                "Delivered bytes kept to compare what is sent again; 0: none.",
            ),
            (
                "midstream",
                "true",
                "Also connections that were open when the capture began.",
            ),
            (
                "one_sided",
                "true",
                "Also connections of which the capture has one direction only.",
            ),
            (
                "paws",
                "true",
                "Drop segments with an old time stamp, as receivers do (RFC 7323).",
            ),
            (
                "urgent_apart",
                "false",
                "Read the urgent byte apart, as receivers without SO_OOBINLINE do.",
            ),
        ],
    ),
    (
        "identify",
        &[
            (
                "enabled",
                "true",
                "Ask connections' first bytes which protocol they are.",
            ),
            (
                "cache",
                "\"/var/cache/flowpin\"",
                "Where compiled patterns are kept; your cache folder if not set, \"\": nowhere.",
            ),
            (
                "patterns",
                "[]",
                "Files and folders with l7-filter patterns, asked where no built-in rule decides.",
            ),
        ],
    ),
    (
        "parse",
        &[
            (
                "enabled",
                "true",
                "Read the messages of application protocols.",
            ),
            (
                "protocols",
                "[]",
                "Only of these: [\"http\", \"dns\"]; of all that have a parser if none is named.",
            ),
            (
                "memory",
                "\"128 MiB\"",
                "Memory of all parsers, over all workers; an eighth of all if not set.",
            ),
            (
                "all_fields",
                "false",
                "Records have every field of a message, not only the common ones.",
            ),
            (
                "grammars",
                "[]",
                "Files with grammars: each reads the connections of the protocol it names.",
            ),
            (
                "fix_dictionaries",
                "[]",
                "QuickFIX dictionaries (XML): names of FIX fields and messages; later ones win.",
            ),
        ],
    ),
    (
        "files",
        &[
            (
                "decode",
                "false",
                "Undo gzip, deflate, br and zstd of bodies; on where they are extracted.",
            ),
            ("md5", "false", "Records of files have their MD5."),
            ("sha1", "false", "Records of files have their SHA-1."),
            ("sha256", "false", "Records of files have their SHA-256."),
            (
                "extract",
                "\"files\"",
                "The directory that bodies are written to; \"\": nowhere.",
            ),
            ("size_max", "\"64 MiB\"", "The most bytes of one file."),
            (
                "count_max",
                "1048576",
                "The most files that one run writes, an equal part of them in each of 256 shards.",
            ),
            (
                "total_max",
                "\"64 GiB\"",
                "The most bytes of all files that one run writes, an equal part in each shard.",
            ),
        ],
    ),
    (
        "scans",
        &[
            ("enabled", "true", "Look for scans and floods."),
            ("window", "\"5 min\"", "How far back attempts count."),
            (
                "long_window",
                "\"24 h\"",
                "How far back they count of sources that hardly ever succeed: slow scans.",
            ),
            (
                "hosts",
                "40",
                "Hosts that refuse or do not answer on one port: a horizontal scan.",
            ),
            (
                "ports",
                "20",
                "Ports of one host that refuse or do not answer: a vertical scan.",
            ),
            (
                "failures",
                "11",
                "Both together, of a source that hardly ever succeeds: a scan.",
            ),
            (
                "targets",
                "100",
                "Likewise, each another host and another port: a sparse scan.",
            ),
            (
                "sensitive",
                "false",
                "As many targets as `failures` are a scan, answered or not, as libnids has it.",
            ),
            (
                "protocols",
                "10",
                "Protocols asked of one host: an IP-protocol scan.",
            ),
            (
                "syn_rate",
                "1000",
                "SYNs a second without a handshake, to one host: a flood.",
            ),
            ("icmp_rate", "1000", "ICMP requests a second to one host."),
            (
                "udp_rate",
                "20000",
                "UDP datagrams a second to one host, without an answer.",
            ),
            (
                "ack_rate",
                "5000",
                "TCP acknowledgements a second to one host, of no connection.",
            ),
            (
                "rst_rate",
                "1000",
                "TCP resets a second to one host, of no connection.",
            ),
            (
                "allow_sources",
                "[\"10.0.0.0/8\"]",
                "Networks that may scan.",
            ),
            (
                "allow_targets",
                "[\"10.0.0.0/8\"]",
                "Networks that may be scanned and flooded.",
            ),
        ],
    ),
    (
        "output",
        &[
            ("dir", "\".\"", "Where log files go."),
            (
                "stdout",
                "false",
                "EVE JSON lines to standard output instead of files.",
            ),
            (
                "formats",
                "[\"eve\"]",
                "\"eve\", \"zeek\", \"zeek-json\", \"csv\", \"parquet\"; or \"none\".",
            ),
            (
                "community_id",
                "true",
                "Community ID in connection records.",
            ),
            ("community_seed", "0", "Seed of the Community ID."),
            (
                "csv_safe",
                "false",
                "Text in CSV that a spreadsheet would take for a formula gets an apostrophe.",
            ),
            (
                "parquet_time",
                "\"us\"",
                "How fine times are in Parquet: \"us\", which every reader knows; or \"ns\".",
            ),
            (
                "rotate_every",
                "\"1 h\"",
                "Begin new files when the records' time leaves this interval.",
            ),
            (
                "rotate_size",
                "\"100 MiB\"",
                "Begin a new file before one grows past this.",
            ),
            (
                "size_max",
                "\"10 GiB\"",
                "Stop writing, and say so, once all files together hold this.",
            ),
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::KEYS;
    use crate::{ConfigError, Plan, Settings};

    fn refusal(text: &str) -> String {
        Settings::from_toml(text).unwrap_err().to_string()
    }

    /// An unknown key is named with its place, and the known ones with it.
    #[test]
    fn unknown_key_is_named_with_line_and_column() {
        let text = refusal("[input]\n  fliter = 'tcp'\n");
        assert!(
            text.starts_with("2:3: unknown field `fliter`, expected one of"),
            "{text}"
        );
        assert_eq!(text.lines().count(), 1);
    }

    /// A wrong value is shown where it stands, columns counted in characters.
    #[test]
    fn wrong_value_is_shown_where_it_stands() {
        assert_eq!(
            refusal("[pipeline]\nmemory = \"64\""),
            "2:10: `64` needs a unit, such as \"64 MiB\""
        );
        assert_eq!(
            refusal("[pipeline]\nmemory = 64"),
            "2:10: invalid type: integer `64`, expected a size with its unit, such as \"64 MiB\""
        );
        assert_eq!(
            refusal("[output]\nformats = ['eve', 'jsön']"),
            "2:19: `jsön` is not one of eve, zeek, zeek-json, csv, parquet, none"
        );
    }

    /// Broken TOML is one line too.
    #[test]
    fn broken_toml_is_one_line() {
        for text in ["[input", "= 3", "[input]\nread = [\n\n", "a = \"\n\""] {
            assert_eq!(refusal(text).lines().count(), 1, "{text:?}");
        }
    }

    /// A file that is not there is named.
    #[test]
    fn missing_file_is_named() {
        let error = Settings::from_file("/does/not/exist.toml".as_ref()).unwrap_err();
        assert!(matches!(error, ConfigError::Unreadable { .. }));
        assert!(error.to_string().starts_with("/does/not/exist.toml: "));
    }

    /// The commented file lists every key that exists, and no other: each example, made active,
    /// is accepted, and a plan with everything set prints nothing but known keys.
    #[test]
    fn commented_file_lists_every_key() {
        let mut all = String::new();
        for (section, keys) in KEYS {
            all.push_str(&format!("[{section}]\n"));
            for (key, example, _) in *keys {
                all.push_str(&format!("{key} = {example}\n"));
            }
        }
        let settings = Settings::from_toml(&all).unwrap();
        let table = toml::Table::try_from(&settings).unwrap();
        for (section, keys) in KEYS {
            let printed = table.get(*section).and_then(toml::Value::as_table).unwrap();
            assert_eq!(printed.len(), keys.len(), "[{section}]");
        }
        assert_eq!(
            Settings::from_toml(&settings.to_commented_toml()).unwrap(),
            settings
        );
        let defaults = Settings::from(&Plan::default());
        assert_eq!(
            Settings::from_toml(&defaults.to_commented_toml()).unwrap(),
            defaults
        );
    }
}
