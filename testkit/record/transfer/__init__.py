"""FTP in every mode, between pyftpdlib, Python's ftplib and curl.

What is known: both ends of every data connection, the command and the file, as the client's own
sockets say. pyftpdlib comes from PyPI (`pip install pyftpdlib==1.5.9 pyOpenSSL`);
`FLOWPIN_PYFTPDLIB_PYTHON` names a Python that has it.
"""

import json
import os
import subprocess
import sys

from lab import CLIENT6, SERVER, SERVER6

PORT = 2121
HERE = os.path.dirname(os.path.abspath(__file__))


def python():
    """A Python that has the server; none: it cannot be recorded."""
    program = os.environ.get("FLOWPIN_PYFTPDLIB_PYTHON", sys.executable)
    done = subprocess.run([program, "-c", "import pyftpdlib, OpenSSL"], check=False,
                          stderr=subprocess.DEVNULL)
    return program if done.returncode == 0 else None


def prepare(lab):
    """Starts the server."""
    page = "<html><body>" + "<p>A page to fetch.</p>\n" * 40 + "</body></html>\n"
    http = "GET / HTTP/1.1\r\nHost: www.lab.test\r\nAccept: */*\r\n\r\n"
    for name, content in (
            ("page.html", page), ("looks-like-http.txt", http * 3),
            ("looks-like-ssh.txt", "SSH-2.0-OpenSSH_9.2p1\r\n"), ("empty", ""),
            ("random.bin", bytes((n * n * 37 + n // 7) % 251 for n in range(6000)))):
        lab.path("files/pub/" + name, content)
    for folder, _, _ in os.walk(lab.path("files")):
        os.chmod(folder, 0o777)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3650",
                    "-subj", "/CN=ftp.lab.test", "-keyout", lab.path("ftp.key"),
                    "-out", lab.path("ftp.crt")], check=True, stderr=subprocess.DEVNULL)
    with open(lab.path("ftp.key"), "rb") as key, open(lab.path("ftp.crt"), "rb") as certificate:
        lab.path("ftp.pem", key.read() + certificate.read())
    lab.start("s", [python(), os.path.join(HERE, "server.py"), lab.dir, PORT, SERVER, SERVER6])
    for port in (PORT, PORT + 1, PORT + 2):
        lab.wait_for("s", port)


def modes(lab, truth):
    """Files over FTP: active and passive, IPv4 and IPv6, behind a translator, with TLS, at once."""
    client = [sys.executable, os.path.join(HERE, "client.py"), PORT, SERVER, SERVER6]
    notes = json.loads(lab.client((47000, 47999), client))
    programs = {"program": "ftplib → pyftpdlib", "conn_state": "SF"}
    for one in notes["controls"] + notes["transfers"]:
        client_end = one["client"], one["client_port"]
        server_end = one["server"], one["server_port"]
        truth.connection(one["service"], client_end, server_end, **programs)
    for one in notes["transfers"]:
        truth.fact(transfer=one)
    truth.fact(at_once=notes["at_once"])
    url = f"ftp://[{SERVER6}]:{PORT}/pub/page.html"
    lab.client(48001, ["curl", "-sS", "-g", "-o", "/dev/null", "-P", f"[{CLIENT6}]:48010-48010",
                       url])
    truth.connection("ftp", (CLIENT6, 48001), (SERVER6, PORT), program="curl → pyftpdlib",
                     conn_state="SF")
    truth.connection("ftp-data", (SERVER6, (1024, 65535)), (CLIENT6, 48010),
                     program="pyftpdlib → curl, active", conn_state="SF")
