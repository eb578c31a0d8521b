/* Each core keeps its own file of lines, and its own capture. */
#include <pcap.h>
#include <stdio.h>
#include <stdlib.h>

#pragma flowpin percore lines, dumper
static FILE *lines;
static pcap_dumper_t *dumper;

static void handle(unsigned char *user, const struct pcap_pkthdr *header, const unsigned char *data)
{
  (void)user;
  fprintf(lines, "%ld.%06ld %u\n", (long)header->ts.tv_sec, (long)header->ts.tv_usec, header->len);
  pcap_dump((unsigned char *)dumper, header, data);
}

int main(int argc, char **argv)
{
  char error[PCAP_ERRBUF_SIZE];
  pcap_t *capture = argc > 3 ? pcap_open_offline(argv[1], error) : 0;
  if (!capture) return 1;
  if (!(lines = fopen(argv[2], "w"))) return 2;
  dumper = pcap_dump_open(capture, argv[3]);
  if (!dumper) return 3;
  pcap_loop(capture, -1, handle, 0);
  pcap_dump_close(dumper);
  return fclose(lines) != 0;
}
