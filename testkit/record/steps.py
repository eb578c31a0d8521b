"""What the clients do, one function per protocol, and what is known about it beforehand."""

import os
import subprocess
import sys
import time

from lab import (CLIENT, CLIENT6, PROHIBITED, ROUTER, ROUTER6, SERVER, SERVER6, SILENT,
                 UNREACHABLE, stop)

CURL = ["curl", "-sS", "--noproxy", "*", "-o", "/dev/null",
        "-w", "%{http_code} %{size_download} %{num_connects}\n"]


def _curl(lab, truth, ports, arguments, urls, server=SERVER, client=CLIENT, port=80, **more):
    """One curl process on one connection; notes what curl reports of each transfer."""
    words = [word for url in urls for word in ("-o", "/dev/null", url)]
    said = lab.client(ports, [*CURL[:4], *CURL[6:], *arguments, *words], check=False)
    truth.connection(more.pop("service", "http"), (client, ports), (server, port),
                     program="curl → nginx", **more)
    for line, url in zip(said.splitlines(), urls):
        if line[:3].isdigit():
            code, size, *_ = line.split()
            truth.fact(port=ports, url=url, status=int(code), body_bytes=int(size))


def http(lab, truth):
    """Keep-alive, compressed and chunked, POST, redirect, 404, IPv6, HEAD, ranges."""
    base = f"http://{SERVER}"
    _curl(lab, truth, 41001, [], [f"{base}/small.txt", f"{base}/nothing-here",
                                  f"{base}/small.txt"], conn_state="SF")
    _curl(lab, truth, 41002, ["--compressed"], [f"{base}/index.html", f"{base}/data.json"],
          conn_state="SF")
    body = lab.path("form.txt", "name=lab&text=" + "y" * 3000)
    _curl(lab, truth, 41003, ["-d", f"@{body}"], [f"{base}/upload"], conn_state="SF")
    _curl(lab, truth, 41004, ["-H", "Transfer-Encoding: chunked", "-d", f"@{body}"],
          [f"{base}/upload"], conn_state="SF")
    _curl(lab, truth, 41005, ["-L"], [f"{base}/moved"], conn_state="SF")
    _curl(lab, truth, 41006, ["-g"], [f"http://[{SERVER6}]/index.html",
                                      f"http://[{SERVER6}]/small.txt"],
          server=SERVER6, client=CLIENT6, conn_state="SF")
    _curl(lab, truth, 41007, ["-I"], [f"{base}/index.html"], conn_state="SF")
    _curl(lab, truth, 41008, ["-0", "-r", "100-299"], [f"{base}/picture.png"], conn_state="SF")


def http_large(lab, truth):
    """A body of 250,000 bytes."""
    _curl(lab, truth, 41020, [], [f"http://{SERVER}/large.png"], conn_state="SF")


def http_failures(lab, truth):
    """Refused, silent, unreachable and prohibited servers; a client that hangs up early."""
    _curl(lab, truth, 41030, [], [f"http://{SERVER}:81/"], port=81, conn_state="REJ", packets=2)
    _curl(lab, truth, 41031, ["--connect-timeout", "2"], [f"http://{SILENT}/"],
          server=SILENT, conn_state="S0")
    _curl(lab, truth, 41032, ["--connect-timeout", "2"], [f"http://{UNREACHABLE}/"],
          server=UNREACHABLE, conn_state="S0", icmp_errors="host unreachable")
    _curl(lab, truth, 41033, ["--connect-timeout", "2"], [f"http://{PROHIBITED}/"],
          server=PROHIBITED, conn_state="S0", icmp_errors="prohibited")
    _curl(lab, truth, 41034, ["-m", "0.5"], [f"http://{SERVER}/slow/large.png"],
          note="the client's time is up while the server sends: it resets")


def tls(lab, truth):
    """HTTP/2 and HTTP/1.1 over TLS 1.3 and 1.2."""
    base = f"https://{SERVER}"
    for port, options in ((41101, []), (41102, ["--http1.1"]),
                          (41103, ["--tls-max", "1.2", "--http1.1"])):
        _curl(lab, truth, port, ["-k", *options], [f"{base}/index.html", f"{base}/small.txt"],
              port=443, service="tls", conn_state="SF")


def ssh(lab, truth):
    """A command and a file, by key."""
    options = ["-F", "none", "-i", lab.path("id_ed25519"), "-o", "StrictHostKeyChecking=no",
               "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR"]
    lab.client(42001, ["ssh", *options, f"root@{SERVER}", "echo hello from the lab; uname -s"])
    truth.connection("ssh", (CLIENT, 42001), (SERVER, 22), program="ssh → sshd", conn_state="SF")
    lab.client(42002, ["scp", *options, lab.path("www/data.json"),
                       f"root@{SERVER}:{lab.dir}/copied.json"])
    truth.connection("ssh", (CLIENT, 42002), (SERVER, 22), program="scp → sshd", conn_state="SF")


def dns(lab, truth):
    """Questions over UDP and TCP, over both families; a name that does not exist."""
    questions = [("www.lab.test", "A"), ("www.lab.test", "AAAA"), ("web.lab.test", "A"),
                 ("lab.test", "MX"), ("_sip._udp.lab.test", "SRV"), ("small.lab.test", "TXT"),
                 ("absent.lab.test", "A")]
    for nth, (name, kind) in enumerate(questions):
        port = 43001 + nth
        _dig(lab, truth, port, [f"@{SERVER}", name, kind])
    _dig(lab, truth, 43010, [f"@{SERVER}", "www.lab.test", "A", "+tcp"], protocol="tcp")
    _dig(lab, truth, 43011, [f"@{SERVER6}", "www.lab.test", "AAAA"], server=SERVER6,
         client=CLIENT6)
    _dig(lab, truth, 43012, [f"@{SERVER}", "nowhere.example", "A"])
    # The answer does not fit into 1,232 bytes: dig asks again over TCP, from the same port.
    _dig(lab, truth, 43013, [f"@{SERVER}", "big.lab.test", "TXT"])
    truth.connection("dns", (CLIENT, 43013), (SERVER, 53), program="dig → dnsmasq")


def dns_fragments(lab, truth):
    """Answers of 3.5 KB over UDP: three fragments each, over both families."""
    _dig(lab, truth, 43101, [f"@{SERVER}", "big.lab.test", "TXT", "+bufsize=4096"], fragments=3)
    _dig(lab, truth, 43102, [f"@{SERVER6}", "big.lab.test", "TXT", "+bufsize=4096"],
         server=SERVER6, client=CLIENT6, fragments=3)


def _dig(lab, truth, port, words, server=SERVER, client=CLIENT, protocol="udp", fragments=None):
    lab.run("c", ["dig", "+tries=1", "+time=3", "-b", f"{client}#{port}", *words])
    more = {"packets": 2} if protocol == "udp" else {"conn_state": "SF"}
    if fragments:
        more["frames"] = 1 + fragments
    truth.connection("dns", (client, port), (server, 53), protocol, program="dig → dnsmasq",
                     **more)


def smtp(lab, truth):
    """Two mails, one with an attachment."""
    attachment = lab.path("notes.txt", "Nothing of interest.\n" * 60)
    for port, more in ((44001, []), (44002, ["--attach", f"@{attachment}"])):
        lab.client(port, ["swaks", "--server", SERVER, "--port", "25", "--helo", "client.lab.test",
                          "--from", "alice@lab.test", "--to", "bob@lab.test",
                          "--header", "Subject: from the lab", "--body", "Hello, Bob.", *more])
        truth.connection("smtp", (CLIENT, port), (SERVER, 25), program="swaks → aiosmtpd",
                         conn_state="SF")


def ftp(lab, truth):
    """A listing and a file in passive mode, a file in active mode."""
    base = f"ftp://{SERVER}"
    for port, url in ((45001, f"{base}/"), (45003, f"{base}/readme.txt")):
        lab.client((port, port + 1), ["curl", "-sS", "-o", "/dev/null", url])
        truth.connection("ftp", (CLIENT, (port, port + 1)), (SERVER, 21),
                         program="curl → vsftpd", conn_state="SF")
        truth.connection("ftp-data", (CLIENT, (port, port + 1)), (SERVER, (30021, 30029)),
                         program="curl → vsftpd, passive", conn_state="SF")
    lab.client(45005, ["curl", "-sS", "-o", "/dev/null", "--disable-eprt",
                       "-P", f"{CLIENT}:45010-45010", f"{base}/readme.txt"])
    truth.connection("ftp", (CLIENT, 45005), (SERVER, 21), program="curl → vsftpd",
                     conn_state="SF")
    truth.connection("ftp-data", (SERVER, 20), (CLIENT, 45010),
                     program="vsftpd → curl, active", conn_state="SF")


def redis(lab, truth):
    """Strings, a list, an error, a pipeline."""
    commands = [["SET", "greeting", "hello"], ["GET", "greeting"], ["LPUSH", "list", "a", "b"],
                ["LRANGE", "list", "0", "-1"], ["NOSUCH"]]
    for nth, command in enumerate(commands):
        lab.client(46001 + nth, ["redis-cli", "-h", SERVER, *command], check=False)
        truth.connection("redis", (CLIENT, 46001 + nth), (SERVER, 6379),
                         program="redis-cli → redis-server", conn_state="SF")


def mqtt(lab, truth):
    """One subscriber, three publishers with different quality of service."""
    lab.ephemeral("c", 47001)
    subscriber = lab.start("c", ["mosquitto_sub", "-h", SERVER, "-t", "lab/#", "-q", "1",
                                 "-C", "3", "-i", "lab-subscriber"])
    time.sleep(0.5)
    truth.connection("mqtt", (CLIENT, 47001), (SERVER, 1883), program="mosquitto_sub → mosquitto",
                     conn_state="SF")
    for quality in (0, 1, 2):
        lab.client(47002 + quality, ["mosquitto_pub", "-h", SERVER, "-t", "lab/temperature",
                                     "-q", quality, "-m", f"{20 + quality}.5",
                                     "-i", f"lab-sensor-{quality}"])
        truth.connection("mqtt", (CLIENT, 47002 + quality), (SERVER, 1883),
                         program="mosquitto_pub → mosquitto", conn_state="SF")
    subscriber.wait(5)


def sip(lab, truth):
    """Three calls over UDP, from one port."""
    lab.run("c", ["sipp", "-sn", "uac", "-m", "3", "-r", "5", "-d", "200", "-i", CLIENT,
                  "-p", "48001", "-nostdin", "-skip_rlimit", SERVER], cwd=lab.dir,
            env={"TERM": "dumb", "PATH": "/usr/bin:/bin:/usr/sbin"}, check=False)
    truth.connection("sip", (CLIENT, 48001), (SERVER, 5060), "udp", program="sipp → sipp",
                     calls=3)


def ntp(lab, truth):
    """One measurement without setting any clock."""
    lab.client(49001, ["chronyd", "-Q", "-x", "-d", "-u", "root", "-f", "/dev/null", "-t", "6",
                       "cmdport 0", f"pidfile {lab.dir}/ntp-client.pid",
                       f"server {SERVER} iburst maxsamples 2"], check=False)
    truth.connection("ntp", (CLIENT, 49001), (SERVER, 123), "udp", program="chronyd → chronyd")


def scan(lab, truth):
    """A SYN scan of 40 ports, a UDP scan of 6, a scan of closed ports of a second host."""
    open_ports = {21, 22, 25, 53, 80, 443}
    lab.run("c", ["nmap", "-n", "-Pn", "-sS", "-T4", "--max-retries", "1", "-g", "50001",
                  "-p", "15-54", SERVER])
    for port in range(15, 55):
        is_open = port in open_ports
        truth.connection("", (CLIENT, 50001), (SERVER, port), program="nmap -sS",
                         conn_state="RSTO" if is_open else "REJ", packets=3 if is_open else 2)
    closed = [7, 9, 37, 69, 514, 1900]
    lab.run("c", ["nmap", "-n", "-Pn", "-sU", "-T4", "--max-retries", "0", "-g", "50002",
                  "-p", ",".join(map(str, closed)), SERVER])
    for port in closed:
        truth.connection("", (CLIENT, 50002), (SERVER, port), "udp", program="nmap -sU",
                         icmp_errors="port unreachable")
    lab.run("c", ["nmap", "-n", "-Pn", "-sS", "-T4", "--max-retries", "0", "-g", "50003",
                  "-p", "8000-8019", "10.91.2.3"])
    for port in range(8000, 8020):
        truth.connection("", (CLIENT, 50003), ("10.91.2.3", port), program="nmap -sS",
                         conn_state="REJ", packets=2)


def icmp(lab, truth):
    """Pings over both families, one in fragments; errors from the router; two traceroutes."""
    lab.run("c", ["ping", "-n", "-c", "3", "-i", "0.2", "-e", "7001", SERVER])
    lab.run("c", ["ping", "-n", "-c", "3", "-i", "0.2", "-e", "7002", SERVER6])
    lab.run("c", ["ping", "-n", "-c", "2", "-i", "0.2", "-e", "7003", "-s", "4000", SERVER])
    lab.run("c", ["ping", "-n", "-c", "2", "-i", "0.2", "-e", "7004", "-W", "1", UNREACHABLE],
            check=False)
    truth.connection("", (CLIENT, 8), (SERVER, 0), "icmp", count=2, program="ping",
                     note="identifiers 7001 (3 pairs) and 7003 (2 pairs, three fragments each)")
    truth.connection("", (CLIENT6, 128), (SERVER6, 129), "icmp6", program="ping", packets=6)
    truth.connection("", (CLIENT, 8), (UNREACHABLE, 0), "icmp", program="ping", packets=2,
                     icmp_errors="host unreachable")
    lab.run("c", ["traceroute", "-n", "-q", "1", "-N", "1", "-w", "2", "--sport=51000",
                  "-p", "33440", SERVER])
    for port in (33440, 33441):
        truth.connection("", (CLIENT, 51000), (SERVER, port), "udp", program="traceroute",
                         packets=1, icmp_errors=f"from {ROUTER if port == 33440 else SERVER}")
    lab.run("c", ["traceroute", "-6", "-n", "-q", "1", "-N", "1", "-w", "2", "--sport=51001",
                  "-p", "33440", SERVER6])
    for port in (33440, 33441):
        truth.connection("", (CLIENT6, 51001), (SERVER6, port), "udp", program="traceroute",
                         packets=1, icmp_errors=f"from {ROUTER6 if port == 33440 else SERVER6}")


def midstream(lab, truth):
    """A transfer that begins before the capture does: see `record.py`."""
    truth.connection("http", (CLIENT, 41050), (SERVER, 80), program="curl → nginx",
                     note="no beginning in the capture")


def slow_transfer(lab):
    """Starts the transfer that `midstream` picks up."""
    lab.ephemeral("c", 41050)
    return lab.start("c", ["curl", "-sS", "-o", "/dev/null", "--limit-rate", "40k",
                           f"http://{SERVER}/slow/medium.png"])


def end(process):
    """Lets a client finish, at most five seconds."""
    try:
        process.wait(5)
    finally:
        stop(process)


def fix(lab, truth):
    """Two FIX engines: orders filled, numbers skipped and sent again, heartbeats, logout."""
    python = fix_python()
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fix_engine.py")
    words = [lab.dir, SERVER, "9878"]
    lab.start("s", [python, script, "acceptor", *words])
    lab.wait_for("s", 9878)
    lab.client(52001, [python, script, "initiator", *words])
    truth.connection("fix", (CLIENT, 52001), (SERVER, 9878), program="QuickFIX → QuickFIX",
                     conn_state="SF")
    version = subprocess.run([python, "-c", "import importlib.metadata as m; "
                              "print(m.version('quickfix'))"], stdout=subprocess.PIPE, text=True,
                             check=True).stdout.strip()
    truth.fact(engine="QuickFIX", version=version, secret="lab-secret")
    for side, name in (("client", "fix-initiator"), ("server", "fix-acceptor")):
        with open(f"{lab.dir}/{name}", encoding="utf-8") as file:
            for line in file:
                what, kind, number, order = line.rstrip("\n").split("\t")
                if what == "sent":
                    truth.fact(side=side, msg_type=kind, seq_num=int(number),
                               cl_ord_id=None if order == "-" else order)


def fix_python():
    """The Python that has QuickFIX: FLOWPIN_QUICKFIX_PYTHON, else this one; none if neither."""
    python = os.environ.get("FLOWPIN_QUICKFIX_PYTHON", sys.executable)
    done = subprocess.run([python, "-c", "import quickfix"], stderr=subprocess.DEVNULL,
                          check=False)
    return python if done.returncode == 0 else None
