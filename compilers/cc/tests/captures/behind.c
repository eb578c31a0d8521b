/* Statistics of its own: in a variable of main that goes with each packet, behind pointers that
 * functions pass on, and as a number that has no name. */
#include <pcap.h>
#include <stdio.h>
#include <stdlib.h>

struct statistics { unsigned long frames, bytes; const char *name; };
struct state { struct statistics *statistics; unsigned *largest; };

static struct statistics *shared_by_all;

static void on_packet(unsigned char *user, const struct pcap_pkthdr *header,
                      const unsigned char *data) {
  struct state *state = (struct state *)user;
  state->statistics->frames++;
  state->statistics->bytes += header->len;
  shared_by_all->frames++;
  if (header->len > *state->largest) *state->largest = header->len;
}

static void line(const struct statistics *all) {
  printf("%s: %lu frames\n", all->name, all->frames);
}

static void show(const struct statistics *all) {
  printf("named %s\n", all->name);
  line(all);
}

int main(int argc, char **argv) {
  char error[PCAP_ERRBUF_SIZE];
  struct statistics statistics = {0, 0, "all"};
  unsigned *largest = calloc(1, sizeof *largest);
  struct state state = {&statistics, largest};
  shared_by_all = calloc(1, sizeof *shared_by_all);
  pcap_t *capture = pcap_open_offline(argv[1], error);
  if (argc < 2 || !capture) return 2;
  pcap_loop(capture, -1, on_packet, (unsigned char *)&state);
  pcap_close(capture);
  printf("%lu bytes\n", statistics.bytes);
  printf("%lu frames\n", shared_by_all->frames);
  printf("largest %u\n", *largest);
  show(&statistics);
  return 0;
}
