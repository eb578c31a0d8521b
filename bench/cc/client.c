/* Real work for each connection: hashes every byte, and looks for 50 patterns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include "nids.h"

#define PATTERNS 50

struct streams { unsigned long hash[2], bytes[2], found; };

static FILE *out;
static unsigned char fold[256];
static unsigned short next[PATTERNS * 12][32];
static char ends[PATTERNS * 12];

/* An automaton of all patterns (Aho and Corasick, 1975), over letters. */
static void patterns(void)
{
  static unsigned short fails[PATTERNS * 12], queue[PATTERNS * 12];
  int states = 1, first = 0, last = 0;
  for (int c = 0; c < 256; c++) fold[c] = (c | 32) >= 'a' && (c | 32) <= 'z' ? (c & 31) : 0;
  for (int number = 0; number < PATTERNS; number++) {
    int state = 0;
    for (int at = 0; at < 4 + number % 7; at++) {
      int letter = 1 + (number * 7 + at * 11 + number / 26) % 26;
      if (!next[state][letter]) next[state][letter] = states++;
      state = next[state][letter];
    }
    ends[state] = 1;
  }
  for (int letter = 0; letter < 32; letter++)
    if (next[0][letter]) queue[last++] = next[0][letter];
  while (first < last) {
    int state = queue[first++];
    ends[state] |= ends[fails[state]];
    for (int letter = 0; letter < 32; letter++) {
      int to = next[state][letter];
      if (!to) next[state][letter] = next[fails[state]][letter];
      else fails[to] = next[fails[state]][letter], queue[last++] = to;
    }
  }
}

static char *name(struct tuple4 addr)
{
  static char text[64];
  struct in_addr source = {addr.saddr}, target = {addr.daddr};
  int at = sprintf(text, "%s:%u ", inet_ntoa(source), addr.source);
  sprintf(text + at, "%s:%u", inet_ntoa(target), addr.dest);
  return text;
}

static void feed(struct streams *s, int side, struct half_stream *half)
{
  int state = 0;
  for (int i = 0; i < half->count_new; i++) {
    unsigned char byte = half->data[i];
    s->hash[side] = (s->hash[side] ^ byte) * 1099511628211ul;
    state = next[state][fold[byte]];
    s->found += ends[state];
  }
  s->bytes[side] += half->count_new;
}

static void put(const char *line)
{
  fputs(line, out);
}

static void on_tcp(struct tcp_stream *tcp, void **user)
{
  struct streams *s = *user;
  char line[300];
  switch (tcp->nids_state) {
  case NIDS_JUST_EST:
    tcp->client.collect++, tcp->server.collect++;
    *user = calloc(1, sizeof *s);
    break;
  case NIDS_DATA:
    feed(s, tcp->server.count_new != 0, tcp->server.count_new ? &tcp->server : &tcp->client);
    break;
  default:
    snprintf(line, sizeof line, "%s state %d, %lu %lx, %lu %lx, %lu found\n", name(tcp->addr),
             tcp->nids_state, s->bytes[0], s->hash[0], s->bytes[1], s->hash[1], s->found);
/* CUT ap->out copy(line: strlen(line) + 1) */
    put(line);
    free(s);
  }
}

int main(int argc, char **argv)
{
  static struct nids_chksum_ctl any = {0, 0, NIDS_DONT_CHKSUM};
  (void)argc;
  nids_params.filename = argv[1];
  nids_params.n_tcp_streams = 65536;
  nids_params.scan_num_hosts = 0;
  patterns();
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
