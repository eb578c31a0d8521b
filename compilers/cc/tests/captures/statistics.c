/* A record of statistics: what is counted, the most, what was seen at all. */
#include <pcap.h>
#include <stdio.h>

struct sizes { unsigned long all, longest; };
#pragma flowpin reduce(+: stats)
#pragma flowpin reduce(max: stats.sizes.longest)
#pragma flowpin reduce(|: stats.seen)
static struct {
  unsigned packets;
  struct sizes sizes;
  unsigned seen[8];
} stats;

static void handle(unsigned char *user, const struct pcap_pkthdr *header, const unsigned char *data)
{
  (void)user;
  stats.packets++;
  stats.sizes.all += header->len;
  if (header->len > stats.sizes.longest) stats.sizes.longest = header->len;
  stats.seen[header->len % 8] |= 1u << (data[header->caplen / 2] % 32);
}

int main(int argc, char **argv)
{
  char error[PCAP_ERRBUF_SIZE];
  (void)argc;
  pcap_t *capture = pcap_open_offline(argv[1], error);
  if (!capture) return 1;
#pragma flowpin entry source(pcap_loop)
  pcap_loop(capture, -1, handle, 0);
#pragma flowpin once
  {
    printf("%u packets, %lu bytes, longest %lu\n", stats.packets, stats.sizes.all,
           stats.sizes.longest);
    for (int at = 0; at < 8; at++) printf("%d: %08x\n", at, stats.seen[at]);
  }
  pcap_close(capture);
  return 0;
}
