/* Two stages: `first` counts, `second` keeps connections, which `expire` also changes. */
#include <pcap.h>

static unsigned last_length, limit;
static int totals, connections;
static void (*handlers[2])(const unsigned char *);

static void expire(void) { connections--; }

static void second(const unsigned char *data) {
  if (last_length > limit) connections += data[0];
  if (connections > 9) expire();
#pragma flowpin targets()
  if (data[1]) handlers[1](data);
}

static void first(const unsigned char *data) {
  totals += data[0];
  if (last_length < limit) totals--;
}

static void packet(unsigned char *user, const struct pcap_pkthdr *header,
                   const unsigned char *data) {
  (void)user;
  last_length = header->len;
#pragma flowpin targets(first)
  handlers[0](data);
  if (header->len == 0) expire();
  second(data);
}

int main(int argc, char **argv) {
  char error[PCAP_ERRBUF_SIZE];
  limit = argc;
  handlers[0] = first;
  handlers[1] = first;
  pcap_loop(pcap_open_offline(argv[1], error), -1, packet, 0);
  return totals + connections > 0;
}
