/* Four stages: headers are read, pairs of hosts are counted and hashed, what a source sends to is
 * kept by source, lines are written by one core. */
#include <pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>

#pragma flowpin stage link ways(1)
#pragma flowpin stage pairs
#pragma flowpin stage sources
#pragma flowpin stage lines ways(1)

struct pair { struct pair *next; unsigned low, high; unsigned long hash; int packets; };
struct host { struct host *next; unsigned address; unsigned last; int changes; };

static struct pcap_pkthdr *now;
static int depth, packets;
static struct pair *pairs[1024];
#pragma flowpin keyed(source) hosts
static struct host *hosts[1024];
#pragma flowpin reduce(+: packets)
static FILE *out;

static void line(const char *text)
{
  fputs(text, out);
}

static void source(const unsigned char *ip, unsigned length)
{
  unsigned from, to;
  char text[100];
  struct host *one;
  memcpy(&from, ip + 12, 4);
  memcpy(&to, ip + 16, 4);
  struct host **place = &hosts[from % 1021];
  while (*place && (*place)->address != from) place = &(*place)->next;
  if (!(one = *place)) {
    one = *place = calloc(1, sizeof *one);
    one->address = from;
  }
  if (one->last == to) return;
  one->last = to;
  one->changes++;
  snprintf(text, sizeof text, "source %08x change %d to %08x, %u bytes, at %ld\n", ntohl(from),
           one->changes, ntohl(to), length, (long)now->ts.tv_usec);
#pragma flowpin cut sources->lines copy(text: strlen(text) + 1)
  line(text);
}

static void pair(const unsigned char *ip, unsigned length)
{
  unsigned ends[2];
  char text[100];
  struct pair *one;
  memcpy(ends, ip + 12, 8);
  if (ends[0] > ends[1]) ends[0] ^= ends[1], ends[1] ^= ends[0], ends[0] ^= ends[1];
  struct pair **place = &pairs[(ends[0] ^ ends[1]) % 1021];
  while (*place && ((*place)->low != ends[0] || (*place)->high != ends[1])) place = &(*place)->next;
  if (!(one = *place)) {
    one = *place = calloc(1, sizeof *one);
    one->low = ends[0];
    one->high = ends[1];
  }
  packets++;
  one->packets++;
  for (unsigned at = 0; at < length; at++) one->hash = (one->hash ^ ip[at]) * 1099511628211ul;
  if (one->packets % 8 == 1) {
    snprintf(text, sizeof text, "pair %08x %08x: %d packets, %lx, depth %d\n", ntohl(ends[0]),
             ntohl(ends[1]), one->packets, one->hash, depth);
#pragma flowpin cut pairs->lines copy(text: strlen(text) + 1)
    line(text);
  }
#pragma flowpin cut pairs->sources key(source) copy(ip: length, *now) forward(now)
  source(ip, length);
}

static void packet(unsigned char *user, const struct pcap_pkthdr *header, const unsigned char *data)
{
  (void)user;
  now = (struct pcap_pkthdr *)header;
  depth = 14;
  if (header->caplen < 34 || data[12] != 8 || data[13] != 0) return;
#pragma flowpin cut link->pairs key((ip[14] ^ ip[18]) * 31u + (ip[15] ^ ip[19])) copy(ip: length, *now) forward(now)
  pair(data + 14, header->caplen - 14);
}

int main(int argc, char **argv)
{
  char error[PCAP_ERRBUF_SIZE];
  (void)argc;
  out = fopen(argv[1], "w");
  for (int file = 2; argv[file]; file++) {
    pcap_t *capture = pcap_open_offline(argv[file], error);
    if (!capture || !out) return fprintf(stderr, "%s\n", error), 2;
    pcap_loop(capture, -1, packet, 0);
    pcap_close(capture);
  }
#pragma flowpin once
  printf("%d packets\n", packets);
  fclose(out);
  return 0;
}
