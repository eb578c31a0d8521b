#!/usr/bin/env bash
# Runs a command between two network namespaces and records what it sends and gets:
#
#   scanners.sh OUT.pcap COMMAND [ARGUMENT…]
#
# The command runs as 10.99.0.1. The other side is 10.99.0.2, where ports 22 and 80 are open, and
# every address of 10.99.1.0/24, which has the same; 10.99.2.0/24 is silent. Needs root, ip,
# tcpdump and python3; sends nothing outside. Removes the namespaces at the end.
set -euo pipefail

out=$1
shift
here=flowpin-a-$$ there=flowpin-b-$$
children=()

clean() {
    for child in "${children[@]}"; do kill "$child" 2>/dev/null || true; done
    wait 2>/dev/null || true
    ip netns del "$here" 2>/dev/null || true
    ip netns del "$there" 2>/dev/null || true
}
trap clean EXIT

ip netns add "$here"
ip netns add "$there"
ip -n "$here" link add veth0 type veth peer name veth0 netns "$there"
for side in "$here" "$there"; do
    ip -n "$side" link set lo up
    ip -n "$side" link set veth0 up
done
ip -n "$here" address add 10.99.0.1/16 dev veth0
ip -n "$there" address add 10.99.0.2/16 dev veth0
ip -n "$there" route add local 10.99.1.0/24 dev lo
# A silent network, rather than one whose router says that nobody is there.
mac=$(ip -n "$there" -brief link show veth0 | tr -s ' ' | cut -d' ' -f3)
ip -n "$here" route add 10.99.2.0/24 via 10.99.0.2
ip -n "$here" neighbour replace 10.99.0.2 lladdr "$mac" dev veth0
ip -n "$there" route add blackhole 10.99.2.0/24
# One refusal for each question, as a scanner's patience is not what is tested.
ip netns exec "$there" sysctl -qw net.ipv4.icmp_ratelimit=0 || true

ip netns exec "$there" python3 -c '
import socket, time
servers = []
for port in (22, 80):
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("0.0.0.0", port))
    server.listen(100)
    servers.append(server)
time.sleep(600)
' &
children+=($!)
ip netns exec "$here" \
    tcpdump -q -n -U --immediate-mode -i veth0 -B 65536 -s 96 -w "$out" 2>/dev/null &
tcpdump=$!
for _ in $(seq 100); do [[ -s $out ]] && break; sleep 0.05; done
# Port 80 listens last; on a busy machine that takes a while.
listens() { ip netns exec "$there" grep -q ':0050 00000000:0000 0A' /proc/net/tcp; }
for _ in $(seq 600); do listens && break; sleep 0.05; done
listens || { echo "nobody listens" >&2; exit 1; }
sleep 0.3

# 124: a flood that `timeout` ended, as it should.
ip netns exec "$here" "$@" >/dev/null 2>&1 || [[ $? -eq 124 ]] || echo "failed: $*" >&2
sleep 0.5
kill -INT "$tcpdump"
wait "$tcpdump" || true
