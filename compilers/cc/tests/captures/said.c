/* Says each packet on standard error, in several pieces; waits for the capture's descriptor. */
#include <errno.h>
#include <pcap.h>
#include <stdio.h>
#include <sys/select.h>

static void handle(unsigned char *user, const struct pcap_pkthdr *header, const unsigned char *data) {
  (void)user, (void)data;
  fprintf(stderr, "packet %ld.%06ld", (long)header->ts.tv_sec, (long)header->ts.tv_usec);
  fputs(" of ", stderr);
  fprintf(stderr, "%u bytes\n", header->len);
  errno = ENOENT;
  perror("\tis");
  fprintf(stderr, "\tend %u\n", header->len);
}

int main(int argc, char **argv) {
  char error[PCAP_ERRBUF_SIZE];
  (void)argc;
  pcap_t *capture = pcap_open_offline(argv[1], error);
  if (!capture) return 1;
  int descriptor = pcap_get_selectable_fd(capture), count;
  do {
    fd_set ready;
    FD_ZERO(&ready);
    FD_SET(descriptor, &ready);
    if (select(descriptor + 1, &ready, 0, 0, 0) != 1) return 2;
    count = pcap_dispatch(capture, 10, handle, 0);
  } while (count > 0);
  pcap_close(capture);
  return 0;
}
