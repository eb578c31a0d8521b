/* Reports pairs of hosts that were idle for a second, as soon as any packet shows that the second
 * has passed; at the end those that were not. Time passes for all pairs alike, so that a core has to
 * hear of it also while it has no packets. */
#include <pcap.h>
#include <stdio.h>
#include <string.h>

#define PAIRS 512
struct pair {
  unsigned ends[2];
  struct timeval last;
  int packets;
};
static struct pair pairs[PAIRS];
static int count;

static int later(struct timeval a, struct timeval b) {
  return a.tv_sec > b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_usec >= b.tv_usec);
}

static void print(const char *what, struct pair *pair) {
  printf("%s %08x %08x: %d packets, last at %ld.%06ld\n", what, pair->ends[0], pair->ends[1],
         pair->packets, (long)pair->last.tv_sec, (long)pair->last.tv_usec);
}

#pragma flowpin tick period(100ms)
static void expire(struct timeval *now) {
  for (int i = 0; i < count; i++) {
    struct timeval due = pairs[i].last;
    due.tv_sec++;
    if (later(*now, due)) {
      print("idle", &pairs[i]);
      pairs[i--] = pairs[--count];
    }
  }
}

static void packet(unsigned char *user, const struct pcap_pkthdr *header,
                   const unsigned char *data) {
  unsigned ends[2];
  struct timeval now = header->ts;
  (void)user;
  expire(&now);
  /* ICMP errors go to the core of the connection that they are about. */
  if (header->caplen < 34 || data[12] != 8 || data[13] || data[23] == 1) return;
  memcpy(ends, data + 26, sizeof ends);
  if (ends[0] > ends[1]) {
    unsigned first = ends[1];
    ends[1] = ends[0];
    ends[0] = first;
  }
  int i = 0;
  while (i < count && memcmp(pairs[i].ends, ends, sizeof ends)) i++;
  if (i == PAIRS) return;
  if (i == count) {
    memset(&pairs[count], 0, sizeof *pairs);
    memcpy(pairs[count++].ends, ends, sizeof ends);
  }
  pairs[i].last = now;
  pairs[i].packets++;
}

int main(int argc, char **argv) {
  char error[PCAP_ERRBUF_SIZE];
  pcap_t *capture = pcap_open_offline(argv[argc - 1], error);
  if (!capture) return 2;
  pcap_loop(capture, -1, packet, 0);
  pcap_close(capture);
  for (int i = 0; i < count; i++) print("open", &pairs[i]);
  return 0;
}
