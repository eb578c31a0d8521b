/* A core sets what the compiler takes for the same in all cores to another value, because a file is
 * there after the first core has run. */
#include <pcap.h>
#include <stdio.h>
#include <unistd.h>

static int is_second;
static int lines;

static void handle(unsigned char *user, const struct pcap_pkthdr *header, const unsigned char *data) {
  (void)user, (void)header, (void)data;
  if (is_second) lines++;
}

int main(int argc, char **argv) {
  char error[PCAP_ERRBUF_SIZE];
  (void)argc;
  if (access(argv[2], F_OK) == 0) is_second = 1;
  fclose(fopen(argv[2], "w"));
  pcap_t *capture = pcap_open_offline(argv[1], error);
  if (!capture) return 2;
  pcap_loop(capture, -1, handle, 0);
  printf("%d\n", lines);
  return 0;
}
