/* refused: `state->count`, which all packets find by the same pointer, is counted by all packets, and said here */
#include <pcap.h>
#include <stdio.h>
#include <stdlib.h>

struct state { int count; };
static struct state *state;

static void packet(unsigned char *user, const struct pcap_pkthdr *header, const unsigned char *data)
{
  (void)user, (void)data;
  printf("#%d: %u\n", ++state->count, header->len);
}

int main(int argc, char **argv)
{
  char error[PCAP_ERRBUF_SIZE];
  state = calloc(1, sizeof *state);
  pcap_loop(pcap_open_offline(argv[argc - 1], error), -1, packet, 0);
  return 0;
}
