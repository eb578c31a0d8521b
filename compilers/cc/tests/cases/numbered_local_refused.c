/* refused: the variable `number` of its function is counted by all packets, and said here while they come */
#include <pcap.h>
#include <stdio.h>

int main(int argc, char **argv)
{
  char error[PCAP_ERRBUF_SIZE];
  pcap_t *capture = pcap_open_offline(argv[argc - 1], error);
  struct pcap_pkthdr *header;
  const unsigned char *data;
  int number = 0;
  while (capture && pcap_next_ex(capture, &header, &data) == 1) {
    number++;
    printf("#%d: %u\n", number, header->len);
  }
  return 0;
}
