/* A scanner of flex on the reassembled streams of libnids: a line for each connection. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include "nids.h"
#include "push.h"

struct stream { struct yyflow *flow[2]; unsigned long tokens, hash, bytes; };

static FILE *out;

static void found(int token, void *user)
{
  struct stream *s = user;
  s->tokens++;
  /* Tokens of both sides come in the order of packets. */
  s->hash = (s->hash ^ (unsigned long)token) * 1099511628211ul;
}

static void put(struct tcp_stream *tcp, struct stream *s)
{
  struct in_addr client = {tcp->addr.saddr}, server = {tcp->addr.daddr};
  fprintf(out, "%s:%u ", inet_ntoa(client), tcp->addr.source);
  fprintf(out, "%s:%u state %d, %lu bytes, %lu tokens %lx\n", inet_ntoa(server), tcp->addr.dest,
          tcp->nids_state, s->bytes, s->tokens, s->hash);
}

static void on_tcp(struct tcp_stream *tcp, void **user)
{
  struct stream *s = *user;
  struct half_stream *half = tcp->server.count_new ? &tcp->server : &tcp->client;
  switch (tcp->nids_state) {
  case NIDS_JUST_EST:
    tcp->client.collect++, tcp->server.collect++;
    *user = s = calloc(1, sizeof *s);
    s->flow[0] = yyflow_new(), s->flow[1] = yyflow_new();
    break;
  case NIDS_DATA:
    s->bytes += half->count_new;
    yyflow_scan(s->flow[half == &tcp->server], half->data, half->count_new, 0, found, s);
    break;
  default:
    put(tcp, s);
    yyflow_free(s->flow[0]), yyflow_free(s->flow[1]);
    free(s);
  }
}

int main(int argc, char **argv)
{
  (void)argc;
  nids_params.filename = argv[1];
  nids_params.n_tcp_streams = 262144;
  nids_params.scan_num_hosts = 0;
  out = fopen(argv[2], "w");
  if (!out || !nids_init()) {
    fprintf(stderr, "%s\n", nids_errbuf);
    return 1;
  }
  nids_register_tcp(on_tcp);
  nids_run();
  fclose(out);
  return 0;
}
