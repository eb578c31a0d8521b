/* refused: the variable `number` of its function is counted by all packets, and said here while they come */
#include <pcap.h>
#include <stdio.h>

int main(int argc, char **argv)
{
  char error[PCAP_ERRBUF_SIZE];
  pcap_t *capture = pcap_open_offline(argv[argc - 1], error);
  struct pcap_pkthdr header;
  for (int number = 1; capture && pcap_next(capture, &header); number++)
    printf("#%d: %u\n", number, header.len);
  return 0;
}
