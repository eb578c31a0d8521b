/* Counts packets and bytes, and writes a line for each TCP connection that it sees begin: by
 * pcap_next_ex, over several captures, with sums and a statement that runs once. */
#include <pcap.h>
#include <stdio.h>
#include <string.h>

#define PORTS 65536
#pragma flowpin reduce(+: packets, bytes)
static long packets, bytes;
#pragma flowpin reduce(max: longest)
static unsigned longest;
static unsigned char seen[PORTS / 8];
static FILE *out;

static int is_new(unsigned port) {
  int was = seen[port / 8] >> port % 8 & 1;
  seen[port / 8] |= 1 << port % 8;
  return !was;
}

static void count(const struct pcap_pkthdr *header, const unsigned char *data) {
  unsigned at = 14 + (data[14] & 15) * 4;
  packets++;
  bytes += header->len;
  if (header->len > longest) longest = header->len;
  if (header->caplen < at + 14 || (data[at + 13] & 0x12) != 2) return;
  unsigned port = data[at] << 8 | data[at + 1];
  if (is_new(port)) fprintf(out, "port %u\n", port);
}

int main(int argc, char **argv) {
  char error[PCAP_ERRBUF_SIZE];
  out = fopen(argv[1], "w");
  fprintf(out, "begin\n");
  for (int i = 2; i < argc; i++) {
    struct pcap_pkthdr *header;
    const unsigned char *data;
    struct bpf_program filter;
    pcap_t *capture = pcap_open_offline(argv[i], error);
    if (!capture) {
      fprintf(stderr, "%s\n", error);
      return 2;
    }
    if (pcap_compile(capture, &filter, "ip and tcp", 1, 0) || pcap_setfilter(capture, &filter))
      return 3;
    while (pcap_next_ex(capture, &header, &data) > 0) count(header, data);
    pcap_freecode(&filter);
    pcap_close(capture);
#pragma flowpin once
    printf("%s: %ld packets, %ld bytes, longest %u\n", argv[i], packets, bytes, longest);
  }
  fprintf(out, "end\n");
  fclose(out);
  return 0;
}
