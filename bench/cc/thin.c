/* As little as a client of libnids can do: counts the bytes of each stream. What the context costs
 * shows here most. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <netinet/in.h>
#include "nids.h"

static FILE *out;

static void on_tcp(struct tcp_stream *tcp, void **user)
{
  unsigned long *bytes = *user;
  switch (tcp->nids_state) {
  case NIDS_JUST_EST:
    tcp->client.collect++, tcp->server.collect++;
    *user = calloc(2, sizeof *bytes);
    break;
  case NIDS_DATA:
    bytes[0] += tcp->client.count_new;
    bytes[1] += tcp->server.count_new;
    break;
  default:
    fprintf(out, "%08x:%u %08x:%u %lu %lu\n", tcp->addr.saddr, tcp->addr.source, tcp->addr.daddr,
            tcp->addr.dest, bytes[0], bytes[1]);
    free(bytes);
  }
}

int main(int argc, char **argv)
{
  static struct nids_chksum_ctl any = {0, 0, NIDS_DONT_CHKSUM};
  (void)argc;
  nids_params.filename = argv[1];
  nids_params.n_tcp_streams = 65536;
  nids_params.scan_num_hosts = 0;
  out = fopen(argv[2], "w");
  if (!out || !nids_init()) {
    fprintf(stderr, "%s\n", nids_errbuf);
    return 1;
  }
  nids_register_chksum_ctl(&any, 1);
  nids_register_tcp(on_tcp);
  nids_run();
  fclose(out);
  return 0;
}
