/* A record of event counters. */
#include <pcap.h>
#include <stdio.h>
struct sizes { unsigned long small, large; };
static struct {
  unsigned packets;
  struct sizes sizes;
  unsigned long by_length[4];
  unsigned odd : 20;
} stats = {0};
static void handle(unsigned char *u, const struct pcap_pkthdr *h, const unsigned char *d) {
  (void)u; (void)d;
  stats.packets++;
  if (h->len < 100) stats.sizes.small += h->len; else stats.sizes.large += h->len;
  stats.by_length[h->len % 4]++;
  stats.odd += h->len % 2;
}
int main(int argc, char **argv) {
  char e[PCAP_ERRBUF_SIZE]; (void)argc;
  pcap_t *p = pcap_open_offline(argv[1], e);
  if (!p) return 1;
  pcap_loop(p, -1, handle, 0);
  printf("%u packets, %lu small, %lu large\n", stats.packets, stats.sizes.small, stats.sizes.large);
  for (int i = 0; i < 4; i++) printf("%d: %lu\n", i, stats.by_length[i]);
  printf("odd %u\n", (unsigned)stats.odd);
  return 0;
}
