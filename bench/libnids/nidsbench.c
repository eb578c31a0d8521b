/* The yardstick: libnids over a capture file, as an intrusion detection system would set it up.
 *
 *   cc -O2 -o nidsbench nidsbench.c -lnids -lpcap
 *   nidsbench FILE
 *
 * Both directions of every TCP connection are collected, checksums are not verified, 65,536
 * streams, scan detection on. Nothing is written but one line of counts at the end, so that one
 * can see that the work was done.
 */
#include <nids.h>
#include <stdio.h>
#include <string.h>

static unsigned long connections, bytes, ended, scans, warnings, streams_short;

static void on_tcp(struct tcp_stream *stream, void **unused)
{
    (void)unused;
    switch (stream->nids_state) {
    case NIDS_JUST_EST:
        stream->client.collect++;
        stream->server.collect++;
        connections++;
        break;
    case NIDS_DATA:
        bytes += (unsigned)stream->client.count_new + (unsigned)stream->server.count_new;
        break;
    default:
        ended++;
    }
}

/* Takes libnids' warnings without writing them anywhere. */
static void on_warning(int type, int what, void *ip, void *data)
{
    (void)ip;
    (void)data;
    if (type == NIDS_WARN_SCAN)
        scans++;
    else if (type == NIDS_WARN_TCP && what == NIDS_WARN_TCP_TOOMUCH)
        streams_short++;
    else
        warnings++;
}

int main(int argc, char **argv)
{
    struct nids_chksum_ctl all = {0, 0, NIDS_DONT_CHKSUM, 0};

    if (argc != 2) {
        fprintf(stderr, "usage: nidsbench FILE\n");
        return 2;
    }
    nids_params.filename = argv[1];
    nids_params.device = NULL;
    nids_params.n_tcp_streams = 65536;
    nids_params.syslog = on_warning;
    /* scan_num_hosts stays at its default, 256: the scan detector is on. */
    if (!nids_init()) {
        fprintf(stderr, "nidsbench: %s: %s\n", argv[1], nids_errbuf);
        return 1;
    }
    nids_register_chksum_ctl(&all, 1);
    nids_register_tcp(on_tcp);
    nids_run();
    printf("connections %lu ended %lu bytes %lu scans %lu warnings %lu beyond_streams %lu\n",
           connections, ended, bytes, scans, warnings, streams_short);
    return 0;
}
