#!/usr/bin/env python3
"""FTP clients that transfer files in every way, and tell as JSON what went over which sockets.

usage: client.py PORT ADDRESS ADDRESS6

Python's own ftplib; what it cannot do (commands sent at once, an address of somebody else) a plain
socket does.
"""

import ftplib
import io
import json
import socket
import ssl
import sys

NOTES = {"controls": [], "transfers": []}


class Noting(ftplib.FTP):
    """Notes both ends of each connection."""

    def login(self, *arguments, **options):
        NOTES["controls"].append(ends(self.sock, "ftp"))
        return super().login(*arguments, **options)

    def ntransfercmd(self, cmd, rest=None):
        data, size = super().ntransfercmd(cmd, rest)
        command, _, file = cmd.partition(" ")
        opens = ends(data, "ftp-data")
        if not self.passiveserver:
            opens = {"client": opens["server"], "client_port": opens["server_port"],
                     "server": opens["client"], "server_port": opens["client_port"],
                     "service": opens["service"]}
        control = self.sock.getsockname()[1]
        NOTES["transfers"].append(opens | {"command": command, "file": file, "control": control})
        return data, size


class NotingTls(ftplib.FTP_TLS):
    """Only the control connection, which goes on as TLS: the rest is encrypted."""

    def auth(self):
        NOTES["controls"].append(ends(self.sock, "tls"))
        return super().auth()


def ends(sock, service):
    mine, theirs = sock.getsockname(), sock.getpeername()
    return {"service": service, "client": mine[0], "client_port": mine[1],
            "server": theirs[0], "server_port": theirs[1]}


def files(ftp):
    """Everything that opens a data connection."""
    ftp.login("bob", "s3cret")
    ftp.cwd("pub")
    ftp.retrlines("LIST", lambda line: None)
    ftp.nlst()
    list(ftp.mlsd())
    for name in ("page.html", "looks-like-http.txt", "looks-like-ssh.txt", "empty", "random.bin"):
        ftp.retrbinary("RETR " + name, lambda part: None)
    ftp.storbinary("STOR new file.txt", io.BytesIO(b"A file to store.\n" * 30))
    ftp.storbinary("APPE new file.txt", io.BytesIO(b"More of it.\n" * 30))
    ftp.storbinary("STOR none", io.BytesIO(b""))
    ftp.cwd("..")
    ftp.retrbinary("RETR pub/page.html", lambda part: None)
    for name in ("pub/new file.txt", "pub/none"):
        ftp.delete(name)
    ftp.quit()


def main():
    port, address, address6 = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    for host in (address, address6):
        for passive in (True, False):
            ftp = Noting()
            ftp.connect(host, port, timeout=10)
            ftp.set_pasv(passive)
            files(ftp)
    translated = Noting()
    translated.connect(address, port + 1, timeout=10)
    translated.login()
    translated.retrbinary("RETR pub/page.html", lambda part: None)
    translated.quit()
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    encrypted = NotingTls(context=context)
    encrypted.connect(address, port + 2, timeout=10)
    encrypted.login("bob", "s3cret")
    encrypted.prot_p()
    encrypted.nlst()
    encrypted.quit()
    at_once(address, port)
    json.dump(NOTES, sys.stdout)


def at_once(address, port):
    """Commands that do not wait; a port of another host; a client that leaves without a word."""
    sock = socket.create_connection((address, port), timeout=10)
    NOTES["controls"].append(ends(sock, "ftp"))
    commands = ["USER bob", "PASS s3cret", "PWD", "CWD pub", "SIZE page.html", "FEAT",
                "PORT 10,91,2,3,0,80", "NOSUCH x", "STAT"]
    sock.sendall("".join(command + "\r\n" for command in commands).encode())
    heard = b""
    while b"\n211 End of status" not in heard:
        part = sock.recv(4096)
        if not part:
            break
        heard += part
    NOTES["at_once"] = {"commands": commands, "heard": heard.decode()}
    sock.close()


main()
