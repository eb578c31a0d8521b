/* refused: standard input is read while packets come, and is one for all cores: read it before */
#include <pcap.h>
#include <stdio.h>
static char line[80];
static void on_packet(u_char *user, const struct pcap_pkthdr *header, const u_char *data)
{
  if (fgets(line, sizeof line, stdin))
    printf("%s %u\n", line, header->len);
}
int main(int argc, char **argv)
{
  char error[PCAP_ERRBUF_SIZE];
  pcap_t *capture = pcap_open_offline(argv[argc - 1], error);
  if (fgets(line, sizeof line, stdin) && capture)
    pcap_loop(capture, -1, on_packet, 0);
  return 0;
}
