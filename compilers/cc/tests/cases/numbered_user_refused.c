/* refused: `*number`, which all packets find by the same pointer, is counted by all packets, and said here */
#include <pcap.h>
#include <stdio.h>

static void packet(unsigned char *user, const struct pcap_pkthdr *header, const unsigned char *data)
{
  int *number = (int *)(void *)user;
  (void)data;
  printf("#%d: %u\n", ++*number, header->len);
}

int main(int argc, char **argv)
{
  char error[PCAP_ERRBUF_SIZE];
  int number = 0;
  pcap_loop(pcap_open_offline(argv[argc - 1], error), -1, packet, (unsigned char *)&number);
  return 0;
}
