"""Sends all requests at once and reads until the server closes: pipeline.py HOST PORT REQUEST …

A request is METHOD PATH; a POST has a chunked body with an extension and a trailer, which is sent
in two pieces. The last request asks the server to close.
"""

import socket
import sys
import time

CHUNKED = ("Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
           "5;part=\"one;two\"\r\nhello\r\n6\r\n world\r\n0\r\nX-Sum: 11\r\n\r\n")


def text(request, host, is_last):
    end = "Connection: close\r\n" if is_last else ""
    body = CHUNKED if request.startswith("POST") else "\r\n"
    return f"{request} HTTP/1.1\r\nHost: {host}\r\n{end}{body}"


def main():
    host, port, *requests = sys.argv[1:]
    last = len(requests) - 1
    sent = "".join(text(one, host, nth == last) for nth, one in enumerate(requests)).encode()
    with socket.create_connection((host, int(port)), 5) as link:
        cut = sent.find(b" world") + 3 if b" world" in sent else len(sent) // 2
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        link.sendall(sent[:cut])
        time.sleep(0.05)
        link.sendall(sent[cut:])
        while link.recv(65536):
            pass


if __name__ == "__main__":
    main()
