#!/usr/bin/env python3
"""Records memcached.pcap: a real server on loopback, four clients, and what each client saw.

    pip install pymemcache python-memcached; apt install memcached libmemcached-tools tcpdump
    python3 memcached.py tests/grammar/captures

pymemcache and python-memcached log each call and its result; libmemcached's tools store and fetch a
file; a socket of our own speaks the meta commands, which the others do not. The truth beside the
capture has one entry for each command in order: who sent it, the command, its keys, whether it
expects an answer, and the answer's last line as the client's result implies it.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time

PORT = 21211
TRUTH = []


def told(client, command, keys, status, size=None):
    TRUTH.append({"client": client, "command": command, "keys": keys, "status": status, "bytes": size})


def pymemcache_calls():
    from pymemcache.client.base import Client

    client = Client(("127.0.0.1", PORT))
    for nth in range(6):
        # Without an answer by default.
        client.set(f"p{nth}", b"x" * (nth * 700))
        told("pymemcache", "set", [f"p{nth}"], None, nth * 700)
    assert len(client.get("p3")) == 2100
    told("pymemcache", "get", ["p3"], "END", 2100)
    assert client.get("nope") is None
    told("pymemcache", "get", ["nope"], "END")
    assert client.set("n", "5", noreply=False)
    told("pymemcache", "set", ["n"], "STORED", 1)
    client.incr("n", 2, noreply=True)
    told("pymemcache", "incr", ["n"], None)
    assert client.incr("n", 3) == 10
    told("pymemcache", "incr", ["n"], "10")
    assert client.delete("p0", noreply=False)
    told("pymemcache", "delete", ["p0"], "DELETED")
    client.delete("p1")
    told("pymemcache", "delete", ["p1"], None)
    assert not client.add("n", "1", noreply=False)
    told("pymemcache", "add", ["n"], "NOT_STORED", 1)
    found = client.get_many(["p1", "p2", "p3", "p0"])
    assert sorted(found) == ["p2", "p3"]
    told("pymemcache", "get", ["p1", "p2", "p3", "p0"], "END", 3500)
    value, unique = client.gets("n")
    told("pymemcache", "gets", ["n"], "END", 2)
    assert client.cas("n", "7", unique, noreply=False)
    told("pymemcache", "cas", ["n"], "STORED", 1)
    assert client.cas("n", "8", unique, noreply=False) is False
    told("pymemcache", "cas", ["n"], "EXISTS", 1)
    assert client.touch("n", 60, noreply=False)
    told("pymemcache", "touch", ["n"], "TOUCHED")
    client.touch("n", 60)
    told("pymemcache", "touch", ["n"], None)
    version = client.version().decode()
    told("pymemcache", "version", [], f"VERSION {version}")
    client.flush_all()
    told("pymemcache", "flush_all", [], None)
    assert client.get("n") is None
    told("pymemcache", "get", ["n"], "END")
    client.quit()


def python_memcached_calls():
    import memcache

    client = memcache.Client([f"127.0.0.1:{PORT}"])
    assert client.set("m", "some text")
    told("python-memcached", "set", ["m"], "STORED", 9)
    assert client.append("m", "!")
    told("python-memcached", "append", ["m"], "STORED", 1)
    assert client.get("m") == "some text!"
    told("python-memcached", "get", ["m"], "END", 10)
    assert client.delete("m", noreply=True)
    told("python-memcached", "delete", ["m"], None)
    assert client.get("m") is None
    told("python-memcached", "get", ["m"], "END")
    client.delete("m")
    told("python-memcached", "delete", ["m"], "NOT_FOUND")
    client.disconnect_all()


def libmemcached_calls(folder):
    path = os.path.join(folder, "file-of-mine")
    with open(path, "wb") as file:
        file.write(b"END\r\nSTORED\r\n" * 100)
    server = f"--servers=127.0.0.1:{PORT}"
    subprocess.run(["memccp", server, path], check=True)
    subprocess.run(["memccat", server, "file-of-mine"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["memcrm", server, "file-of-mine"], check=True)
    told("libmemcached", "set", ["file-of-mine"], "STORED", 1300)
    told("libmemcached", "get", ["file-of-mine"], "END", 1300)
    told("libmemcached", "delete", ["file-of-mine"], "DELETED")


def meta_calls():
    with socket.create_connection(("127.0.0.1", PORT)) as link:
        link.sendall(
            b"ms a 3 T60 q\r\nxyz\r\nms b 2 q O9\r\nhi\r\nmg a v q O1\r\nmg none v q O2\r\n"
            b"mg b v k q O3\r\nmd a q\r\nmn\r\nmg a v\r\nme b\r\n"
        )
        time.sleep(0.3)
        seen = link.recv(65536).decode()
    lines = seen.split("\r\n")
    assert lines[0].startswith("VA 3") and lines[1] == "xyz", lines
    assert lines[2].startswith("VA 2") and lines[4] == "MN" and lines[5] == "EN", lines
    told("meta", "ms", ["a"], None, 3)
    told("meta", "ms", ["b"], None, 2)
    told("meta", "mg", ["a"], "VA", 3)
    told("meta", "mg", ["none"], None)
    told("meta", "mg", ["b"], "VA", 2)
    told("meta", "md", ["a"], None)
    told("meta", "mn", [], "MN")
    told("meta", "mg", ["a"], "EN")
    told("meta", "me", ["b"], "ME")


def main():
    out = sys.argv[1]
    server = subprocess.Popen(["memcached", "-u", "nobody", "-l", "127.0.0.1", "-p", str(PORT), "-U", "0"])
    capture = subprocess.Popen(
        ["tcpdump", "-q", "-U", "-i", "lo", "-w", os.path.join(out, "memcached.pcap"), f"tcp port {PORT}"]
    )
    time.sleep(1.5)
    try:
        pymemcache_calls()
        python_memcached_calls()
        with tempfile.TemporaryDirectory() as folder:
            libmemcached_calls(folder)
        meta_calls()
        time.sleep(1)
    finally:
        capture.terminate()
        capture.wait()
        server.terminate()
        server.wait()
    with open(os.path.join(out, "memcached.json"), "w", encoding="utf-8") as file:
        json.dump({"commands": TRUTH}, file, indent=1)
        file.write("\n")


main()
