/* Whom libnids calls a scanner in a capture: a line for each source, and how often it said so.
 *
 *   cc -O2 -o nids_scans nids_scans.c -lnids -lpcap
 *   nids_scans FILE
 *
 *   SOURCE ALERTS
 *
 * Its thresholds are the defaults; checksums are not verified.
 */
#include <arpa/inet.h>
#include <nids.h>
#include <stdio.h>
#include <stdlib.h>

struct scanner {
    u_int address;
    unsigned long alerts;
};

/* What libnids hands to its log for a scan begins so (its scan.h, which is not installed). */
struct warned {
    void *next, *prev;
    u_int address;
};

static struct scanner *scanners;
static size_t count;

static void on_warning(int type, int what, void *ip, void *data)
{
    const struct warned *warned = data;
    size_t at;

    (void)what;
    (void)ip;
    if (type != NIDS_WARN_SCAN)
        return;
    for (at = 0; at < count && scanners[at].address != warned->address; at++)
        ;
    if (at == count) {
        scanners = realloc(scanners, (count + 1) * sizeof *scanners);
        if (!scanners)
            exit(1);
        scanners[count].address = warned->address;
        scanners[count++].alerts = 0;
    }
    scanners[at].alerts++;
}

static void on_tcp(struct tcp_stream *stream, void **unused)
{
    (void)stream;
    (void)unused;
}

int main(int argc, char **argv)
{
    struct nids_chksum_ctl all = {0, 0, NIDS_DONT_CHKSUM, 0};

    if (argc != 2)
        return 2;
    nids_params.filename = argv[1];
    nids_params.device = NULL;
    nids_params.syslog = on_warning;
    if (!nids_init())
        return 1;
    nids_register_chksum_ctl(&all, 1);
    nids_register_tcp(on_tcp);
    nids_run();
    for (size_t at = 0; at < count; at++) {
        struct in_addr in = {scanners[at].address};
        printf("%s %lu\n", inet_ntoa(in), scanners[at].alerts);
    }
    return 0;
}
