/* A file's packets by one call of pcap_dispatch, then by a count; what is left to do at the end. */
#include <assert.h>
#include <pcap.h>
#include <stdio.h>
#include <stdlib.h>

static int is_open;
static unsigned long longest;
static pcap_t *capture;

static void done(void) {
  if (capture) pcap_close(capture);
}

static void handle(unsigned char *user, const struct pcap_pkthdr *header,
                   const unsigned char *data) {
  (void)user, (void)data;
  assert(is_open);
  if (header->len > longest) longest = header->len;
  printf("%ld.%09ld %u\n", (long)header->ts.tv_sec, (long)header->ts.tv_usec, header->len);
}

int main(int argc, char **argv) {
  char error[PCAP_ERRBUF_SIZE];
  unsigned precision = PCAP_TSTAMP_PRECISION_NANO;
  int is_counted = argc > 2, count;
  if (atexit(done)) return 1;
  capture = pcap_open_offline_with_tstamp_precision(argv[1], precision, error);
  if (!capture) return 2;
  is_open = 1;
  if (!is_counted) return pcap_dispatch(capture, -1, handle, 0) < 0;
  while ((count = pcap_dispatch(capture, 7, handle, 0)) == 7) continue;
  exit(count < 0 || longest == 0);
}
