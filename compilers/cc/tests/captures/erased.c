/* Opens a file while packets come: one for each packet, or, with a third argument, one for all. */
#include <pcap.h>
#include <stdio.h>

static const char *folder, *common;

static void on_packet(unsigned char *user, const struct pcap_pkthdr *header,
                      const unsigned char *data) {
  char path[256];
  long second = common ? 0 : header->ts.tv_sec, part = common ? 0 : header->ts.tv_usec;
  snprintf(path, sizeof path, "%s/%ld.%ld", folder, second, part);
  FILE *file = fopen(path, "w");
  if (!file) return;
  fprintf(file, "%u\n", header->len);
  fclose(file);
}

int main(int argc, char **argv) {
  char error[PCAP_ERRBUF_SIZE];
  pcap_t *capture = pcap_open_offline(argv[1], error);
  if (argc < 3 || !capture) return 2;
  folder = argv[2];
  common = argv[3];
  pcap_loop(capture, -1, on_packet, 0);
  pcap_close(capture);
  return 0;
}
