/* What libnids makes of a capture: a line for each connection, in the order of their beginnings.
 *
 *   cc -O2 -o nids_streams nids_streams.c -lnids -lpcap
 *   nids_streams FILE
 *
 *   CLIENT PORT SERVER PORT BYTES_TO_SERVER HASH BYTES_TO_CLIENT HASH     (hash: FNV-1a, 64 bits)
 *
 * Checksums are not verified, and the scan detector is off.
 */
#include <arpa/inet.h>
#include <nids.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct half {
    uint64_t bytes, hash;
};

struct connection {
    struct tuple4 ends;
    struct half to_server, to_client;
    struct connection *next;
};

static struct connection *first, **last = &first;

static void take(struct half *half, const struct half_stream *stream)
{
    const unsigned char *data = (const unsigned char *)stream->data;
    int new = stream->count_new, at = stream->count - stream->offset - new;

    for (int i = 0; i < new; i++)
        half->hash = (half->hash ^ data[at + i]) * UINT64_C(0x100000001b3);
    half->bytes += (unsigned)new;
}

static void on_tcp(struct tcp_stream *stream, void **mine)
{
    struct connection *connection = *mine;

    if (stream->nids_state == NIDS_JUST_EST) {
        connection = calloc(1, sizeof *connection);
        if (!connection)
            exit(1);
        connection->ends = stream->addr;
        connection->to_server.hash = connection->to_client.hash = UINT64_C(0xcbf29ce484222325);
        *last = connection;
        last = &connection->next;
        *mine = connection;
        stream->client.collect++;
        stream->server.collect++;
    } else if (stream->nids_state == NIDS_DATA && connection) {
        take(&connection->to_server, &stream->server);
        take(&connection->to_client, &stream->client);
    }
}

static void on_warning(int type, int what, void *ip, void *data)
{
    (void)type;
    (void)what;
    (void)ip;
    (void)data;
}

static void print_end(uint32_t address, uint16_t port)
{
    struct in_addr in = {address};
    printf("%s %u ", inet_ntoa(in), port);
}

int main(int argc, char **argv)
{
    struct nids_chksum_ctl all = {0, 0, NIDS_DONT_CHKSUM, 0};

    if (argc != 2)
        return 2;
    nids_params.filename = argv[1];
    nids_params.device = NULL;
    nids_params.n_tcp_streams = 65536;
    nids_params.scan_num_hosts = 0;
    nids_params.syslog = on_warning;
    if (!nids_init())
        return 1;
    nids_register_chksum_ctl(&all, 1);
    nids_register_tcp(on_tcp);
    nids_run();
    for (struct connection *at = first; at; at = at->next) {
        print_end(at->ends.saddr, at->ends.source);
        print_end(at->ends.daddr, at->ends.dest);
        printf("%llu %016llx %llu %016llx\n", (unsigned long long)at->to_server.bytes,
               (unsigned long long)at->to_server.hash, (unsigned long long)at->to_client.bytes,
               (unsigned long long)at->to_client.hash);
    }
    return 0;
}
