"""HTTP between more servers and clients: Apache, Node, Go, wrk, Python, pipelining and WebSocket.

Every server writes one line a request to a log of one form, so that the truth is what the server
itself says that it was asked and answered:

    client's port TAB request line TAB status TAB bytes of the body that it sent

An interim response has no line; an upgrade is status 101.
"""

import os
import subprocess
import sys
import time

from lab import CLIENT, SERVER, stop

HERE = os.path.dirname(os.path.abspath(__file__))
PIPELINE = os.path.join(HERE, "pipeline.py")
NODE = os.path.join(HERE, "node.js")
GO = os.path.join(HERE, "peer.go")
EXPECTING = os.path.join(HERE, "expecting.py")

APACHE_PORT, NODE_PORT, GO_PORT, PYTHON_PORT = 8080, 8081, 8082, 8083

APACHE = """
ServerRoot {dir}
PidFile {dir}/apache.pid
ErrorLog {dir}/apache.err
Listen {port}
ServerName lab.test
DocumentRoot {dir}/www
LoadModule mpm_prefork_module {modules}/mod_mpm_prefork.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule mime_module {modules}/mod_mime.so
LoadModule dir_module {modules}/mod_dir.so
LoadModule filter_module {modules}/mod_filter.so
LoadModule deflate_module {modules}/mod_deflate.so
LoadModule alias_module {modules}/mod_alias.so
LoadModule cgi_module {modules}/mod_cgi.so
StartServers 2
MinSpareServers 1
TypesConfig /etc/mime.types
AddOutputFilterByType DEFLATE text/html text/plain application/json
ScriptAlias /store {dir}/store.sh
Redirect 301 /moved /index.html
<Directory />
  Require all granted
</Directory>
LogFormat "%{{remote}}p\\t%r\\t%>s\\t%B" lab
CustomLog {dir}/apache.log lab
"""

# Answers without a length: chunked, or by closing for HTTP/1.0.
STORE = """#!/bin/sh
bytes=$(cat | wc -c)
echo "Status: 201 Created"
echo "Content-Type: text/plain"
echo
echo "stored $bytes bytes"
"""


def apache(lab, truth):
    """Apache: compressed and chunked, pipelined, 100-continue, HEAD, 304, ranges, HTTP/1.0."""
    config = APACHE.format(dir=lab.dir, port=APACHE_PORT, modules="/usr/lib/apache2/modules")
    lab.path("store.sh", STORE, 0o755)
    server = lab.start("s", ["apache2", "-X", "-f", lab.path("apache.conf", config)],
                       env=os.environ | {"APACHE_RUN_DIR": lab.dir})
    lab.wait_for("s", APACHE_PORT)
    base = f"http://{SERVER}:{APACHE_PORT}"
    curl = _curl(lab, truth, APACHE_PORT, "apache2")
    body = lab.path("apache-body.txt", "name=lab&text=" + "z" * 2500)
    curl(53001, [], f"{base}/small.txt", f"{base}/nothing", f"{base}/picture.png")
    curl(53002, ["--compressed"], f"{base}/index.html", f"{base}/data.json")
    curl(53003, ["--compressed", "-0"], f"{base}/index.html")
    curl(53004, ["-I"], f"{base}/index.html", f"{base}/small.txt")
    curl(53005, ["-H", "Expect: 100-continue", "-d", f"@{body}"], f"{base}/store")
    curl(53006, ["-H", "Transfer-Encoding: chunked", "-d", f"@{body}"], f"{base}/store",
         f"{base}/store/again")
    curl(53007, ["-0", "-d", f"@{body}"], f"{base}/store")
    curl(53008, ["-z", lab.path("www/small.txt")], f"{base}/small.txt")
    curl(53009, ["-r", "0-9,100-119"], f"{base}/picture.png")
    curl(53010, ["-L"], f"{base}/moved")
    curl(53011, ["-X", "TRACE"], f"{base}/small.txt")
    _pipeline(lab, truth, 53012, APACHE_PORT, "apache2", "GET /small.txt", "GET /nothing",
              "HEAD /picture.png", "POST /store", "GET /data.json")
    _log(lab, truth, "apache.log")
    stop(server)


def node(lab, truth):
    """Node: chunked with trailers, early hints, 100-continue, closed bodies, a WebSocket."""
    server = lab.start("s", ["node", NODE, "server", lab.path("node.log"), NODE_PORT])
    lab.wait_for("s", NODE_PORT)
    base = f"http://{SERVER}:{NODE_PORT}"
    curl = _curl(lab, truth, NODE_PORT, "node")
    body = lab.path("node-body.txt", "y" * 3000)
    curl(53101, [], f"{base}/plain?a=1&b=%20", f"{base}/chunked", f"{base}/none")
    curl(53102, ["--compressed"], f"{base}/gzip", f"{base}/plain")
    curl(53103, ["-H", 'If-None-Match: "lab"'], f"{base}/cached", f"{base}/plain")
    curl(53104, [], f"{base}/early", f"{base}/closed")
    curl(53105, ["-H", "Expect: 100-continue", "-T", body], f"{base}/stored")
    curl(53106, ["-I"], f"{base}/plain", f"{base}/chunked")
    curl(53107, ["-X", "OPTIONS", "--request-target", "*"], base)
    curl(53108, ["-0"], f"{base}/chunked")
    _pipeline(lab, truth, 53109, NODE_PORT, "node", "GET /plain", "GET /chunked", "POST /stored",
              "HEAD /gzip", "GET /none")
    lab.client(53110, ["node", NODE, "client", base])
    truth.connection("http", (CLIENT, 53110), (SERVER, NODE_PORT), program="node → node")
    lab.client(53111, ["node", NODE, "websocket", base])
    truth.connection("websocket", (CLIENT, 53111), (SERVER, NODE_PORT), program="node → node")
    _log(lab, truth, "node.log")
    stop(server)


def go(lab, truth):
    """Go: both sides; chunked both ways, trailers, 100-continue, gzip, ranges, 304."""
    program, server = _go(lab, "go.log")
    base = f"http://{SERVER}:{GO_PORT}"
    lab.client(53201, [program, "client", base])
    truth.connection("http", (CLIENT, 53201), (SERVER, GO_PORT), program="go → go")
    curl = _curl(lab, truth, GO_PORT, "go")
    curl(53202, [], f"{base}/flushed", f"{base}/file", f"{base}/nothing")
    curl(53203, ["-0"], f"{base}/flushed")
    curl(53204, ["-r", "0-9,50-59"], f"{base}/file")
    curl(53205, ["-I"], f"{base}/file", f"{base}/flushed")
    _pipeline(lab, truth, 53206, GO_PORT, "go", "GET /file", "HEAD /file", "POST /stored",
              "GET /flushed")
    _log(lab, truth, "go.log")
    stop(server)


def expect(lab, truth):
    """Expect: 100-continue, between curl, Python and nginx, Apache, Go, Python: bodies left out."""
    body = lab.path("expected.txt", "e" * 5000)
    waits = ["-H", "Expect: 100-continue", "--data-binary", f"@{body}"]
    chunks = ["-H", "Transfer-Encoding: chunked", *waits]
    # Python refuses and goes on with the connection, as few do.
    python = lab.start("s", [sys.executable, EXPECTING, "server", lab.path("python.log"),
                             PYTHON_PORT])
    lab.wait_for("s", PYTHON_PORT)
    lab.client(53401, [sys.executable, EXPECTING, "client", SERVER, PYTHON_PORT])
    truth.connection("http", (CLIENT, 53401), (SERVER, PYTHON_PORT),
                     program="expecting.py → expecting.py",
                     note="bodies are left out but those of /auth, the second time, and /stored")
    base = f"http://{SERVER}:{PYTHON_PORT}"
    curl = _curl(lab, truth, PYTHON_PORT, "expecting.py")
    curl(53402, waits, f"{base}/stored", f"{base}/again")
    curl((53403, 53405), ["--anyauth", "-u", "lab:lab", *waits], f"{base}/auth",
         count=2)
    curl((53409, 53411), [*waits, f"{base}/full", "-o", "/dev/null", "--next", "-sS"],
         f"{base}/after", count=2)
    _log(lab, truth, "python.log")
    stop(python)
    # nginx answers at once, and curl gives up. (Where nginx does send 100, its log counts that to
    # the answer's body.)
    before = _lines(lab, "nginx.log")
    curl = _curl(lab, truth, 80, "nginx")
    pages = [f"http://{SERVER}/small.txt", f"http://{SERVER}/index.html"]
    curl((53431, 53433), waits, *pages, count=2)
    curl((53434, 53436), chunks, *pages, count=2)
    _log(lab, truth, "nginx.log", before)
    # Apache answers and closes.
    limits = APACHE + "LimitRequestBody 1000\n"
    config = limits.format(dir=lab.dir, port=APACHE_PORT, modules="/usr/lib/apache2/modules")
    lab.path("store.sh", STORE, 0o755)
    before = _lines(lab, "apache.log")
    server = lab.start("s", ["apache2", "-X", "-f", lab.path("apache.conf", config)],
                       env=os.environ | {"APACHE_RUN_DIR": lab.dir})
    lab.wait_for("s", APACHE_PORT)
    base = f"http://{SERVER}:{APACHE_PORT}"
    curl = _curl(lab, truth, APACHE_PORT, "apache2")
    curl((53412, 53414), waits, f"{base}/store", f"{base}/missing", count=2)
    # curl takes the port again, and the server still remembers the connection before.
    curl((53415, 53417), chunks, f"{base}/missing", f"{base}/moved", count=2,
         note="the second one's SYN is answered by the first one's ACK, reset, and sent again")
    curl((53418, 53420), waits, f"{base}/small.txt", f"{base}/index.html", count=2)
    _log(lab, truth, "apache.log", before)
    stop(server)
    # Go sends 100 when its handler reads, and closes if it does not.
    _, server = _go(lab, "go-expect.log")
    base = f"http://{SERVER}:{GO_PORT}"
    curl = _curl(lab, truth, GO_PORT, "go")
    curl((53421, 53424), waits, f"{base}/stored", f"{base}/nothing", f"{base}/stored", count=2)
    curl((53425, 53428), chunks, f"{base}/refused", f"{base}/stored", count=2)
    _log(lab, truth, "go-expect.log")
    stop(server)


def wrk(lab, truth):
    """wrk against nginx: two connections, each request sent with two more."""
    words = ["-t1", "-c2", "-d1s", "-s", os.path.join(HERE, "pipelined.lua")]
    before = _lines(lab, "nginx.log")
    lab.client((53301, 53302), ["wrk", *words, f"http://{SERVER}"])
    truth.connection("http", (CLIENT, (53301, 53302)), (SERVER, 80), count=2,
                     program="wrk → nginx")
    _log(lab, truth, "nginx.log", before)


def _go(lab, log):
    """The Go program, and it serving."""
    program = lab.path("go-peer")
    subprocess.run(["go", "build", "-o", program, GO], check=True,
                   env=os.environ | {"GOFLAGS": "-mod=mod", "GO111MODULE": "off"})
    server = lab.start("s", [program, "server", lab.path(log), f":{GO_PORT}"])
    lab.wait_for("s", GO_PORT)
    return program, server


def _curl(lab, truth, port, program):
    """One curl process on one connection, or on so many."""
    def run(client_port, options, *urls, count=1, **more):
        words = [word for url in urls for word in ("-o", "/dev/null", url)]
        lab.client(client_port, ["curl", "-sS", "--noproxy", "*", *options, *words], check=False)
        truth.connection("http", (CLIENT, client_port), (SERVER, port),
                         count=count, program=f"curl → {program}", **more)
    return run


def _pipeline(lab, truth, client_port, port, program, *requests):
    lab.client(client_port, [sys.executable, PIPELINE, SERVER, port, *requests])
    truth.connection("http", (CLIENT, client_port), (SERVER, port),
                     program=f"pipeline.py → {program}", note="all requests are sent at once")


def _lines(lab, name):
    path = lab.path(name)
    if not os.path.exists(path):
        return 0
    with open(path, encoding="utf-8") as file:
        return sum(1 for _ in file)


def _log(lab, truth, name, skip=0):
    """What the server says that it was asked and answered, in the order of its answers' ends."""
    time.sleep(0.3)
    with open(lab.path(name), encoding="utf-8") as file:
        for line in file.read().splitlines()[skip:]:
            port, request, status, body = line.split("\t")
            method, url, version = request.split(" ")
            truth.fact(log=name, port=int(port), method=method, url=url, version=version,
                       status=int(status), body_bytes=int(body))
