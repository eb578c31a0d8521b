/* refused: no call of `pcap_dispatch` that brings packets follows */
#include <pcap.h>

static int seen;

static void packet(unsigned char *user, const struct pcap_pkthdr *header, const unsigned char *data)
{
  (void)user, (void)header, (void)data;
  seen++;
}

int main(int argc, char **argv)
{
  char error[PCAP_ERRBUF_SIZE];
#pragma flowpin entry source(pcap_dispatch)
  pcap_loop(pcap_open_offline(argv[argc - 1], error), -1, packet, 0);
  return 0;
}
