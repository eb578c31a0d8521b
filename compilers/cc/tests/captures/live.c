/* Counts packets of an interface until a signal comes. */
#include <pcap.h>
#include <signal.h>
#include <stdio.h>

static pcap_t *capture;
#pragma flowpin reduce(+: packets)
static long packets;

static void stop(int number) {
  (void)number;
  pcap_breakloop(capture);
}

static void count(unsigned char *user, const struct pcap_pkthdr *header,
                  const unsigned char *data) {
  (void)user, (void)data;
  packets += header->len > 0;
}

int main(int argc, char **argv) {
  char error[PCAP_ERRBUF_SIZE];
  capture = pcap_open_live(argv[argc - 1], 65535, 0, 50, error);
  if (!capture) {
    fprintf(stderr, "%s\n", error);
    return 2;
  }
  signal(SIGINT, stop);
  fprintf(stderr, "ready\n");
  pcap_loop(capture, -1, count, 0);
#pragma flowpin once
  printf("%ld packets\n", packets);
  return 0;
}
