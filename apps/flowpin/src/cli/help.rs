//! The longer texts of `--help` and the manual pages.

pub(super) const ABOUT: &str = "\
Flowpin reads packet captures, pins every connection to one core, and writes its findings as \
records that your tools already read. The records are byte-identical for any number of cores and \
for every run.";

pub(super) const MAIN_AFTER: &str = "\
Examples:
  flowpin run -r big.pcap                       eve.json here, a summary on the terminal
  flowpin run -r captures/ -l logs --format zeek,parquet
  flowpin run -r big.pcap.zst --output - tcp port 443 | jq .dest_ip
  flowpin identify -r big.pcap
  flowpin slice -r big.pcap --uid C0XWfTK4LReq -w one.pcap
  flowpin streams -r big.pcap --follow C0XWfTK4LReq
  flowpin explain -r big.pcap --packet 4711

Exit codes:
  0  success
  1  failure: output could not be written, out of memory, …
  2  usage, configuration or filter error; an output that would replace something
  3  input unreadable: nothing was analysed
  4  input truncated or damaged: everything before the damage is analysed
  129, 130, 143  stopped by HUP (not `run`), INT or TERM: everything read by then is analysed";

pub(super) const RUN_ABOUT: &str = "\
Analyses captures and writes a record for each connection, application message, scan, flood and \
anomaly.

Captures are pcap or pcapng, optionally compressed with gzip, zstd, lz4 or xz. Several captures \
are merged by time into one stream. A directory stands for all captures in it and in its \
subdirectories.";

pub(super) const RUN_AFTER: &str = "\
Examples:
  flowpin run -r big.pcap
      eve.json here, a summary on the terminal
  flowpin run -r mon.pcap -r tue.pcap -l logs --format zeek
      two captures as one stream; conn.log and others in logs/
  flowpin run captures/*.pcap
      arguments that end like the name of a capture are read as well
  flowpin run -r big.pcap --format none --json | jq .quality
      only the summary, as JSON
  flowpin run -r big.pcap --output - 'tcp port 443 and net 10.0.0.0/8'
      EVE JSON lines to a pipe, for packets that match a pcap-filter(7) expression
  zcat huge.pcap.gz | flowpin run -r - --pipeline 3x6
      from a pipe, on eight cores

  flowpin run -r big.pcap --scans off --streams off
      connections only
  flowpin run -r big.pcap -l logs --force
      again into the same directory, which is refused without --force

Settings come from the defaults, then from the file named by -c, then from the options here. \
`--print-config` prints the result as such a file, with the meaning of each setting. Some \
settings exist only there: how hosts resolve overlapping fragments and segments, by network \
([[hosts]]); limits for fragments ([defragmentation]) and streams ([streams]); thresholds and \
exceptions of scan and flood detection ([scans]).

Exit codes:
  0  success
  1  failure: output could not be written, out of memory, …
  2  usage, configuration or filter error; an output that would replace something
  3  input unreadable: nothing was analysed
  4  input truncated or damaged: everything before the damage is analysed
  129, 130, 143  stopped by HUP (not `run`), INT or TERM: everything read by then is analysed

Signals:
  INT, TERM  stop, and write the results so far; a second signal ends the process at once, as does
             a second without progress
  HUP        reopen log files that were moved away, as by `logrotate`
  USR1       print the counters to standard error
  USR2       take the filter and the rules as they are now (with -i)

It is not an error if the reader of standard output closes it early.";

pub(super) const IDENTIFY_ABOUT: &str = "\
Lists the connections of captures with the protocol of each, the rule that matched, its \
confidence, the side whose bytes decided, and the number of packets examined; then totals by \
protocol.

A port never decides: it gives a hint, shown only where no rule matched. If a connection changes \
its protocol (STARTTLS, CONNECT, a request for TLS), the new one is shown after the previous one.

Connections have the order and the uid of the records of `flowpin run`. The command uses one \
thread.";

pub(super) const IDENTIFY_AFTER: &str = "\
Examples:
  flowpin identify -r big.pcap
  flowpin identify -r big.pcap --only unknown
      connections that no rule matched, with the protocol suggested by the port
  flowpin identify -r big.pcap --only tls,quic --format csv > encrypted.csv
  flowpin identify -r big.pcap --patterns /etc/l7-protocols --totals
      with patterns of your own (see `flowpin patterns test`), only the totals
  flowpin identify -r big.pcap --format json | jq -r 'select(.app_proto_orig) | .uid'

Exit codes: as for `flowpin run`.";

pub(super) const PATTERNS_ABOUT: &str = "\
Helps authors of patterns in l7-filter's format: a line with a name, and a line with an \
expression over the first bytes of a connection. `flowpin run` and `flowpin identify` use \
patterns (`--patterns`) where no built-in rule matches.";

pub(super) const RULES_ABOUT: &str = "\
Helps authors and users of signature rules: Suricata's language, and the forms of Snort 2 and 3. \
`flowpin run -S PATH` compares packets, streams and messages with rules; docs/user/rules.md has \
what is evaluated and what is refused.";

pub(super) const RULES_CHECK_AFTER: &str = "\
Examples:
  flowpin rules check /etc/suricata/rules
  flowpin rules check --strict --var 'HOME_NET=[10.0.0.0/8]' local.rules

Each refused rule is reported on standard error with its file and line and, if it cannot be \
read, its column and a caret below what is wrong; the others are read. Exit codes: 0 done, 2 a \
file cannot be read, or with --strict a rule is refused.";

pub(super) const RULES_PROFILE_AFTER: &str = "\
Examples:
  flowpin rules profile -r monday.pcap /etc/suricata/rules
  flowpin rules profile -r monday.pcap -k none --top 30 local.rules

The captures are analysed on one core, without records. A rule is compared where its fast pattern \
was found, or with everything of its kind if it has none: rules with many checks and no matches \
want a better pattern. Times are wall-clock times of single comparisons, which measuring makes \
longer; compare them with each other.";

pub(super) const TEST_ABOUT: &str = "\
Reports for each pattern whether it was loaded or refused (where, why, and what to do about it); \
whether it decides or only hints; how large it is; and how many bytes of a connection it \
examines. A pattern that would match random bytes or English text more than once in a million \
times 4 KiB only hints: it decides if nothing else does, with lower confidence. With captures, \
also reports which connections each pattern matches, by which bytes, and the verdicts of the \
built-in rules, which take precedence.

As in l7-filter, matching ignores case, zero bytes are removed, both directions form one text in \
order of arrival, and `$` is the end of a datagram, of a turn or of the stream. Patterns examine \
4 KiB of each direction of a TCP connection, and 12 datagrams of others.";

pub(super) const TEST_AFTER: &str = "\
Examples:
  flowpin patterns test my-patterns/
  flowpin patterns test game.pat evening.pcap
      captures are recognised by the endings of their names, or named by -r
  flowpin patterns test /etc/l7-protocols -r big.pcap --format json | jq .patterns

Exit codes: as for `flowpin run`; 2 also if a pattern is refused.";

pub(super) const LIST_AFTER: &str = "\
Examples:
  flowpin patterns list
  flowpin patterns list --format json | jq -r '.[] | select(.groups[0] == \"mail\") | .name'";

pub(super) const SLICE_ABOUT: &str = "\
Gets from records back to packets: writes the packets of the named connections to a capture file, \
including their fragments and the ICMP errors about them.

A connection is named by an identifier from the records of `flowpin run`: its uid, the flow_id of \
EVE JSON, or its Community ID, which may match several connections if ports were reused. Use the \
same input, --timeouts, --memory, --id-seed and --community-seed as in the run, so that the same \
connections are found. The filter is not needed, because it does not change uids.

With `--sid SID -S RULES`, the connections are those that these rules alert of, over the whole \
input and with all rules that are named, as in such a run: thresholds and bits count.

A connection has the same uid in a slice that is analysed by itself.

If FILE ends in .pcap, it becomes a pcap file (nanoseconds, one link type), otherwise pcapng, \
which can hold several link types. An existing file is replaced only with --force, and an input \
file never.";

pub(super) const SLICE_AFTER: &str = "\
Examples:
  flowpin slice -r big.pcap --uid C0XWfTK4LReq -w one.pcap
  flowpin slice -r big.pcap --uid C0XWfTK4LReq --uid 1:wCb3OG7yAFWelaUydu0D+125CLM= -w two.pcap
  flowpin slice -r captures/ --filter 'host 10.1.2.3' -w host.pcapng
  flowpin slice -r big.pcap --sid 2028773,2019240 -S rules/ -w alerted.pcapng
  flowpin slice -r big.pcap --uid C0XWfTK4LReq -w - | tshark -r -

Exit codes: as for `flowpin run`; 1 also if no packet was found.";

pub(super) const STREAMS_ABOUT: &str = "\
Puts TCP segments in order, as their receiver read them, and writes the bytes of each direction \
of each connection to a file; or shows one conversation, TCP or UDP, on standard output.

Files are named after sender and receiver, as tcpflow names them: \
128.129.130.131.02345-010.011.012.013.45103; the second stream between the same endpoints has c1 \
appended, the third c2. A stream without bytes has no file. Overlapping segments are resolved as \
by their receiver ([[hosts]] in the configuration).

A conversation is named by the uid or flow_id from the records of `flowpin run`, with the same \
input, --timeouts, --memory and --id-seed as in the run; or by its Community ID, which may match \
several.

One thread does all the work, and the output depends on the input and the options only.";

pub(super) const STREAMS_AFTER: &str = "\
Examples:
  flowpin streams -r big.pcap -w streams/
  flowpin streams -r big.pcap -w mail/ --from client --depth '1 MiB' tcp port 25
  flowpin streams -r big.pcap --follow C0XWfTK4LReq
      as a conversation: text as text, other bytes in hexadecimal, in colour on a terminal
  flowpin streams -r big.pcap --follow 1:wCb3OG7yAFWelaUydu0D+125CLM= --format json | jq .
  flowpin streams -r big.pcap --follow C0XWfTK4LReq --format raw --from server > answer

Exit codes: as for `flowpin run`; 1 also if no such conversation was found.";

pub(super) const PROFILE_ABOUT: &str = "\
Runs a capture through a series of pipelines, each with one stage more, and reports the cost of \
each stage: cycles of the time stamp counter for each packet, instructions and cache misses where \
the kernel counts them, and memory for each open connection. No records are written.

From these costs it calculates, by the rule that the slowest stage sets the pace, the best use of \
1 to 64 cores and the resulting speed; for the cores of this machine, it also measures the speed.";

pub(super) const PROFILE_AFTER: &str = "\
Examples:
  flowpin profile -r big.pcap
  flowpin profile -r big.pcap --format none --save big.profile.json --svg big.svg
  flowpin plan --gbps 100 --packet 764 --profile big.profile.json

Exit codes: as for `flowpin run`.";

pub(super) const PLAN_AFTER: &str = "\
Example:
  flowpin profile -r big.pcap --save big.profile.json
  flowpin plan --gbps 100 --packet 764 --profile big.profile.json

The costs of reading, checksums and handing over are assumed to grow with the packet length, all \
other costs to be per packet. Traffic with other connections and protocols than in the profile \
has other costs.";

pub(super) const GEN_ABOUT: &str = "\
Generates a capture of conversations with chosen characteristics: packet length, connections per \
1,000 packets, concurrent connections, header lines that straddle packets, chunked bodies, IPv6, \
VLAN tags, tunnels, and faults such as loss and reordering.

TCP conversations are complete: handshake, windows, acknowledgements, close or reset. Each \
connection is planned with the results of the earlier ones, so that the trace has the chosen \
characteristics; where that is impossible, the summary says so. The same options and seed give \
the same bytes.

The ground truth is written beside the capture as JSON: each connection with its packets, bytes, \
messages and the SHA-256 of each side's bytes, then totals and the resulting characteristics.

Presets are traces from the papers that Flowpin builds on, with the characteristics that they \
published.";

pub(super) const GEN_AFTER: &str = "\
Examples:
  flowpin gen http -w web.pcap --packets 1000000 --packet-len 764 --rate 49.8
  flowpin gen fix --preset parser-file-3 -w orders.pcap
  flowpin gen mix --preset ics09-file-4 --part 0.1 -w campus.pcapng
  flowpin gen http -w - --no-truth --loss 0.01 --reorder 0.01 | flowpin run -r -
  flowpin gen mix --service http=0.7 --service dns=0.3 --ipv6 0.3 --vlan 7 -w mix.pcap
  flowpin gen replicate -r day.pcap.zst -n 50 -w days.pcap
  flowpin gen http --preset parser-file-1 -i veth0 --topspeed

Exit codes: as for `flowpin run`.";

pub(super) const BENCH_ABOUT: &str = "\
Repeats the measurements of the papers that Flowpin builds on, on traces with the characteristics \
that they published, and shows each of their tables beside the new figures, as a table, JSON and \
pictures. Refuses to measure while other programs use the processors.

It starts flowpin-bench, a separate program that must be in the same directory or on the PATH.";

pub(super) const BENCH_AFTER: &str = "\
Examples:
  flowpin bench
      lists the tables
  flowpin bench modes stages
  flowpin bench all --json tables.json --svg pictures/
  flowpin bench all --quick
      takes seconds and shows that everything works; its figures have no meaning

Exit codes: as for `flowpin run`.";

pub(super) const COMPLETIONS_AFTER: &str = "\
Examples:
  flowpin completions bash > ~/.local/share/bash-completion/completions/flowpin
  flowpin completions zsh  > \"${fpath[1]}/_flowpin\"
  flowpin completions fish > ~/.config/fish/completions/flowpin.fish";

pub(super) const MAN_AFTER: &str = "\
Examples:
  flowpin man | man -l -
  flowpin man run | man -l -
      the page of one command; `gen-http` is the page of `flowpin gen http`
  flowpin man ~/.local/share/man/man1 --force
      replaces the pages of an earlier version";
