"""Builds what is measured here: libnids 1.26 with a client, as it is or made parallel.

Modes are where the program is divided, as in the platform paper's Table 3: by whole packets, before
TCP, before the checksums, before the output.
"""
import os
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
# libnids reads its pseudo header through pointers of other types: GCC 12 with -O2 alone makes it
# refuse each TCP packet for its checksum.
FLAGS = ("-fno-strict-aliasing -D_BSD_SOURCE -DLIBNET_VER=-1 -DHAVE_ICMPHDR=1 -DHAVE_TCP_STATES=1 "
         "-DHAVE_BSD_UDPHDR=1 -Ilibnids-1.26/src -w").split()
HANDLER = "void nids_pcap_handler("
ALONG = "*nids_last_pcap_header) forward(nids_last_pcap_header)"
PACKET = f"copy(data: ntohs(((struct ip *)data)->ip_len), {ALONG}"


def stages(*names):
    lines = "".join(f"#pragma flowpin stage {name}\n" for name in names)
    return [("libnids.c", HANDLER, lines + HANDLER)]


def before(file, text, line):
    return (file, text, f"#pragma flowpin {line}\n{text}")


TICK = [
    before("tcp.c", "void\ntcp_check_timeouts(struct timeval", "tick period(1s)"),
    before("libnids.c", "    if (NULL != nids_tcp_timeouts)\n", "in ap"),
]
CHECKSUMS = TICK + [("libnids.c", " #else\n", f" #else\n#pragma flowpin cut ip->ap key(ip_pair) "
                     f"copy(data: caplen, {ALONG}\n")]
TCP = TICK + [
    before("libnids.c", "\t(i->item) (iph, skblen)", "targets(gen_ip_proc)"),
    before("libnids.c", "\t(i->item) (data, caplen)", "targets(gen_ip_frag_proc)"),
] + [before("libnids.c", call, f"cut ip->ap key(ip_pair) separate(nchk) {PACKET}")
     for call in ("\tprocess_tcp(data", "\tprocess_udp((char", "\t    process_icmp(data")]
WHOLE, BEFORE_TCP, BEFORE_CHECKSUMS, BEFORE_OUTPUT = (
    "whole packets", "before TCP", "before the checksums", "before the output")
MODES = {
    WHOLE: [],
    BEFORE_TCP: stages("ip ways(1)", "ap") + TCP,
    BEFORE_CHECKSUMS: stages("ip ways(1)", "ap") + CHECKSUMS,
    BEFORE_OUTPUT: stages("ap", "out ways(1)"),
}


def build(args, name, edits, *choices, client=None, scanner=None, make=(), flags=("-O2",)):
    """The path of a program; its folder is named after it, and is made anew.

    `edits` are of libnids; `choices` are of `flowpin cc transform`, or the word `sequential` alone;
    `scanner` is a source of flex, which the client gets in push mode.
    """
    folder = args.work / name.replace(" ", "-")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copytree(args.work / "libnids" / "libnids-1.26", folder / "libnids-1.26")
    client = (HERE / (client or "client.c")).read_text()
    if "out ways(1)" in "".join(new for _, _, new in edits):
        client = client.replace("/* CUT", "#pragma flowpin cut").replace("+ 1) */", "+ 1)")
    (folder / "client.c").write_text(client)
    for file, old, new in edits:
        path = folder / "libnids-1.26" / "src" / file
        text = path.read_text(encoding="latin-1")
        if old not in text:
            raise SystemExit(f"{file} has no {old!r}: is this libnids 1.26?")
        path.write_text(text.replace(old, new, 1), encoding="latin-1")
    sources = ["client.c"] + sorted(
        str(one.relative_to(folder)) for one in (folder / "libnids-1.26/src").glob("*.c"))
    if scanner:
        subprocess.run(["flex", "-o", "lex.c", HERE / scanner], cwd=folder, check=True)
        quietly([args.flowpin, "cc", "scanner", "lex.c", "-o", "push.c"], folder)
        sources.append("push.c")
    if choices == ("sequential",):
        subprocess.run(["cc", *FLAGS, *flags, "-o", "program", *sources, "-lpcap"], cwd=folder,
                       check=True)
        return folder / "program"
    quietly([args.flowpin, "cc", "transform", "-o", "out", *choices, *sources, "--", *FLAGS],
            folder)
    subprocess.run(["make", "-s", "-C", "out", *make], cwd=folder, check=True)
    return folder / "out" / "program"


def quietly(command, folder):
    """Runs a command, whose words are of interest only if it fails."""
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    if done.returncode != 0:
        words = " ".join(map(str, command))
        raise SystemExit(f"{words}: exit code {done.returncode}\n{done.stdout}")


def prepare(args):
    """Fetches libnids into the folder of work."""
    args.flowpin = str(Path(args.flowpin).resolve())
    args.work = args.work.resolve()
    args.work.mkdir(parents=True, exist_ok=True)
    fetch = HERE.parents[1] / "apps/flowpin/tests/guide/fetch-libnids"
    subprocess.run(["bash", fetch, args.work / "libnids"], check=True)


def capture(args, name, *words):
    """A generated capture; made if it is not there."""
    path = args.work / f"{name}.pcap"
    if not path.exists():
        part = path.with_suffix(".part")
        subprocess.run([args.flowpin, "gen", *words, "--no-truth", "-w", part], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.replace(part, path)
    return path
