//! The longer texts of `--help` and the manual pages.

pub(super) const ABOUT: &str = "\
Flowpin reads packet captures, pins every connection to one core and writes what it found as \
records that people's tools already read. The records are byte-identical for any number of cores \
and for every run.";

pub(super) const MAIN_AFTER: &str = "\
Examples:
  flowpin run -r big.pcap                       eve.json here, a summary on the terminal
  flowpin run -r captures/ -l logs --format zeek,parquet
  flowpin run -r big.pcap.zst --output - tcp port 443 | jq .dest_ip
  flowpin identify -r big.pcap
  flowpin slice -r big.pcap --uid C0XWfTK4LReq -w one.pcap
  flowpin streams -r big.pcap --follow C0XWfTK4LReq

Exit codes:
  0  done
  1  failed: output could not be written, no memory, …
  2  usage, configuration or filter; an output that would replace something
  3  input unreadable: nothing was analysed
  4  input truncated or damaged: what came before is analysed
  130, 143  stopped by INT or TERM: what was read is analysed";

pub(super) const RUN_ABOUT: &str = "\
Analyses captures and writes one record for each connection, each scan and flood, and each oddity.

Captures are pcap or pcapng, also inside gzip, zstd, lz4 or xz. Several are merged by time into \
one stream. A directory stands for all captures in it.";

pub(super) const RUN_AFTER: &str = "\
Examples:
  flowpin run -r big.pcap
      eve.json in this directory, a summary on the terminal
  flowpin run -r mon.pcap -r tue.pcap -l logs --format zeek
      two captures as one stream; conn.log and others in logs/
  flowpin run captures/*.pcap
      words that end like a capture's name are read too
  flowpin run -r big.pcap --format none --json | jq .quality
      the summary only, for machines
  flowpin run -r big.pcap --output - 'tcp port 443 and net 10.0.0.0/8'
      EVE JSON lines to a pipe, packets chosen by a pcap-filter(7) expression
  zcat huge.pcap.gz | flowpin run -r - --pipeline 3x6
      from a pipe, on eight cores

  flowpin run -r big.pcap --scans off --streams off
      connections only
  flowpin run -r big.pcap -l logs --force
      once more into the same directory: without --force it is refused

Settings come from the defaults, then the file named by -c, then the options here. \
`--print-config` prints the outcome as such a file, each setting with its meaning. Only there: how \
overlapping fragments and segments are read, by network ([[hosts]]); caps of fragments \
([defragmentation]) and streams ([streams]); what counts as a scan or a flood, and who may \
([scans]).

Exit codes:
  0  done
  1  failed: output could not be written, no memory, …
  2  usage, configuration or filter; an output that would replace something
  3  input unreadable: nothing was analysed
  4  input truncated or damaged: what came before is analysed
  130, 143  stopped by INT or TERM: what was read is analysed

Signals:
  INT, TERM  stop, and write what was found until then; a second one ends at once, as does a
             second in which nothing moves
  HUP        make log files anew that were moved away, as after `logrotate`
  USR1       print the counters to standard error

A reader that closes our standard output early is no error.";

pub(super) const IDENTIFY_ABOUT: &str = "\
Lists the connections of captures with the protocol that each speaks, the rule that told it, how \
sure it is, whose bytes decided and how many packets were looked at; then the sums by protocol.

A port is only ever a hint: it is shown where nothing else is known, and never decides. What a \
connection changes into (STARTTLS, CONNECT, a request for TLS) stands behind what it was.

Connections come in the order of the records of `flowpin run`, with the same uid. One thread.";

pub(super) const IDENTIFY_AFTER: &str = "\
Examples:
  flowpin identify -r big.pcap
  flowpin identify -r big.pcap --only unknown
      what no rule knows, with what the port suggests
  flowpin identify -r big.pcap --only tls,quic --format csv > encrypted.csv
  flowpin identify -r big.pcap --patterns /etc/l7-protocols --totals
      with patterns of your own (see `flowpin patterns test`), the sums only
  flowpin identify -r big.pcap --format json | jq -r 'select(.app_proto_orig) | .uid'

Exit codes: as for `flowpin run`.";

pub(super) const PATTERNS_ABOUT: &str = "\
Helps the author of patterns in l7-filter's format: a name, then an expression over the first \
bytes of a connection, a line each. `--patterns` of `flowpin run` and `flowpin identify` asks them \
where no built-in rule decides.";

pub(super) const TEST_ABOUT: &str = "\
Says of each pattern whether it is loaded or refused, where and why, and what to do about it; \
whether it decides or, because it would match random bytes or English text more than once in a \
million times 4 KiB, only hints: it decides where nothing else does, and is not sure; how large it \
is, and how many bytes of a connection it looks at. \
With captures also: which connections it matches, by which bytes, and what built-in rules say of \
them, since these come first.

As with l7-filter, letters match in either case, zero bytes are left out, both directions are one \
text in order of arrival, and `$` is the end of a datagram, of a turn or of the stream. Looked at \
are 4 KiB of each direction of a TCP connection, and 12 datagrams of others.";

pub(super) const TEST_AFTER: &str = "\
Examples:
  flowpin patterns test my-patterns/
  flowpin patterns test game.pat evening.pcap
      captures are told by the ends of their names, or by -r
  flowpin patterns test /etc/l7-protocols -r big.pcap --format json | jq .patterns

Exit codes: as for `flowpin run`; 2 also if a pattern is refused.";

pub(super) const LIST_AFTER: &str = "\
Examples:
  flowpin patterns list
  flowpin patterns list --format json | jq -r '.[] | select(.groups[0] == \"mail\") | .name'";

pub(super) const SLICE_ABOUT: &str = "\
Gets from records back to packets: writes the packets of the named connections, their fragments \
and the ICMP errors about them included, to a capture file.

A connection is named as `flowpin run` wrote it, by its uid, by the flow_id of EVE JSON, or by its \
Community ID, which may stand for several when ports were used again. Give the same input and the \
same --timeouts, --memory, --id-seed and --community-seed as then, so that the same connections \
are found. No filter is needed: whether there was one changes no uid.

A connection has the same uid in a slice that is analysed by itself.

A name that ends in .pcap gives a pcap file (nanoseconds, one link type), any other name pcapng, \
which holds several link types. A file that is there is replaced only with --force, and one that \
is read never.";

pub(super) const SLICE_AFTER: &str = "\
Examples:
  flowpin slice -r big.pcap --uid C0XWfTK4LReq -w one.pcap
  flowpin slice -r big.pcap --uid C0XWfTK4LReq --uid 1:wCb3OG7yAFWelaUydu0D+125CLM= -w two.pcap
  flowpin slice -r captures/ --filter 'host 10.1.2.3' -w host.pcapng
  flowpin slice -r big.pcap --uid C0XWfTK4LReq -w - | tshark -r -

Exit codes: as for `flowpin run`; 1 also if no packet was found.";

pub(super) const STREAMS_ABOUT: &str = "\
Puts TCP segments in order, as their receiver read them, and writes the bytes of each direction of \
each connection to a file; or shows one conversation, TCP or UDP, on standard output.

Files are named by sender and receiver as tcpflow names them, \
128.129.130.131.02345-010.011.012.013.45103; the second stream between the same two ends has c1 \
behind it, the third c2. A stream without bytes has no file. Overlapping segments are resolved as \
their receiver does ([[hosts]] in the configuration).

A conversation is named by its uid or flow_id as `flowpin run` wrote it, given the same input and \
the same --timeouts, --memory and --id-seed; or by its Community ID, which may stand for several.

One thread does it all, and what is written depends on the input and the options only.";

pub(super) const STREAMS_AFTER: &str = "\
Examples:
  flowpin streams -r big.pcap -w streams/
  flowpin streams -r big.pcap -w mail/ --from client --depth '1 MiB' tcp port 25
  flowpin streams -r big.pcap --follow C0XWfTK4LReq
      as a conversation: text as text, the rest in hexadecimal, in colours on a terminal
  flowpin streams -r big.pcap --follow 1:wCb3OG7yAFWelaUydu0D+125CLM= --format json | jq .
  flowpin streams -r big.pcap --follow C0XWfTK4LReq --format raw --from server > answer

Exit codes: as for `flowpin run`; 1 also if no such conversation was found.";

pub(super) const PROFILE_ABOUT: &str = "\
Sends a capture through pipelines that have one stage more each, in turn, and says what each stage \
costs a packet: cycles of the time stamp counter, instructions and cache misses where the \
kernel counts them, and memory for each open connection. Nothing is written.

From these costs follows, by the rule that the slowest stage sets the pace, how 1 to 64 cores are \
best used, and how fast that is; for the cores that this machine has, beside what a run does.";

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

Reading, checksums and handing over are taken to grow with the length of packets, everything else \
to be paid by the packet. Traffic with other connections and protocols than the profile's costs \
something else.";

pub(super) const GEN_ABOUT: &str = "\
Makes a capture of conversations with chosen characteristics: length of packets, connections per \
1,000 packets, connections at a time, header lines that straddle packets, bodies in chunks, IPv6, \
tags, tunnels, and what goes wrong on the way.

TCP conversations are whole: handshake, windows, acknowledgements, close or reset. What was asked \
for is met by planning each connection after what the ones before came to; where it cannot be met, \
the summary says so. The same options and seed give the same bytes.

The truth lies beside the capture as JSON: each connection with its packets, bytes, messages and \
the SHA-256 of what each side said, then totals and the characteristics as they came out.

Presets are the traces of the papers that this program goes back to, with the characteristics \
that they published.";

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
Measures what the papers measured that this program goes back to, on traces with the \
characteristics that they published: each table of theirs beside ours, as a table, JSON and \
pictures. Refuses while others use the processors.

It is a program of its own, flowpin-bench, which must be beside this one or on the PATH.";

pub(super) const BENCH_AFTER: &str = "\
Examples:
  flowpin bench
      which tables there are
  flowpin bench modes stages
  flowpin bench all --json tables.json --svg pictures/
  flowpin bench all --quick
      in seconds: shows that everything works, its figures mean nothing

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
      the page of one command; `gen-http` is that of `flowpin gen http`
  flowpin man ~/.local/share/man/man1";
