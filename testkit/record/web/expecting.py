"""Clients that wait with a body (`Expect: 100-continue`), and servers that answer before it.

    expecting.py server LOG PORT     refuses, asks to authenticate, or lets the body come
    expecting.py client HOST PORT    one connection: leaves refused bodies out, and goes on

Otherwise HTTP as Python's own library speaks it. The client says what it did by what it asks: each
request's path names what becomes of its body.
"""

import http.server
import socket
import sys
import threading

BODY = b"e" * 500
KEY = "Basic bGFiOmxhYg=="
LOCK = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    log = None

    def handle_expect_100(self):
        if self.path.startswith("/refused"):
            return self.answer(417, b"")
        if self.path.startswith("/auth") and self.headers.get("Authorization") != KEY:
            return self.answer(401, b"who are you", ("WWW-Authenticate", "Basic realm=lab"))
        if self.path.startswith("/full"):
            return self.answer(507, b"no room")
        return super().handle_expect_100()

    def do_PUT(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.answer(201, b"%d bytes" % len(body))

    def do_GET(self):
        self.answer(200, b"as asked")

    do_POST = do_PUT

    def answer(self, status, body, *fields):
        """Answers, notes it, and says that no body is read."""
        self.send_response(status)
        for name, value in (*fields, ("Content-Length", len(body))):
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)
        with LOCK, open(Handler.log, "a", encoding="utf-8") as log:
            log.write(f"{self.client_address[1]}\t{self.requestline}\t{status}\t{len(body)}\n")
        return False

    def log_message(self, *_):
        pass


def server(log, port):
    Handler.log = log
    http.server.ThreadingHTTPServer(("", int(port)), Handler).serve_forever()


def client(host, port):
    def head(path, *fields):
        lines = [f"PUT {path} HTTP/1.1", f"Host: {host}", "Expect: 100-continue",
                 f"Content-Length: {len(BODY)}", *fields]
        return "\r\n".join([*lines, "", ""]).encode()
    get = f"GET /after HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
    with socket.create_connection((host, int(port)), 5) as link:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        ask(link, head("/refused"))
        ask(link, get)
        ask(link, head("/auth"))
        ask(link, head("/auth", f"Authorization: {KEY}"), BODY)
        ask(link, head("/full"))
        # The next request in two parts, cut in its first line.
        ask(link, get[:7], get[7:])
        ask(link, head("/stored"), BODY[:3], BODY[3:])
        ask(link, head("/refused"))
        ask(link, head("/refused"))
        ask(link, get)


def ask(link, *parts):
    """Sends a request's parts, each once the one before was answered or nothing came, and reads its
    answer to the end."""
    for part in parts[:-1]:
        link.sendall(part)
        link.settimeout(0.2)
        try:
            answer(link)
        except TimeoutError:
            pass
    link.sendall(parts[-1])
    link.settimeout(5)
    answer(link)


def answer(link):
    """Reads one answer, byte by byte; all have a length, but `100 Continue`."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += link.recv(1)
    lines = head.decode().lower().split("\r\n")
    left = sum(int(line.split(":")[1]) for line in lines if line.startswith("content-length:"))
    while left > 0:
        left -= len(link.recv(left))


if __name__ == "__main__":
    {"server": server, "client": client}[sys.argv[1]](*sys.argv[2:])
