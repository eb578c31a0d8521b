/* Says what has come in each interval of packets, and sets that back. */
#include <pcap.h>
#include <stdio.h>

int main(int argc, char **argv) {
  char error[PCAP_ERRBUF_SIZE];
  struct pcap_pkthdr *header;
  const unsigned char *data;
  unsigned bytes = 0, frames = 0, longest;
  pcap_t *capture = pcap_open_offline(argv[1], error);
  if (argc < 2 || !capture) return 2;
  while (pcap_next_ex(capture, &header, &data) == 1) {
    longest = header->len;
    longest -= longest & 1;
    bytes += longest;
    if (++frames < 100) continue;
    printf("%u\n", bytes);
    frames = bytes = 0;
  }
  pcap_close(capture);
  return 0;
}
