/* Options that are set before packets come, and events that are counted: neither needs a line. */
#include <pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int verbose, port = 80;   /* set once */
static char title[32] = "none";  /* set once, through strncpy */
static unsigned char wanted[256]; /* set once, through an index */
static double factor;            /* set once */
static long packets;             /* summed */
static unsigned long bytes;      /* summed */
static unsigned by_protocol[256]; /* summed, element by element */
static int odd;                  /* summed; the statement that reads it uses another sum */

static void usage(const char *name) {
  fprintf(stderr, "usage: %s [-v] [-p PORT] [-t TITLE] FILE\n", name);
  exit(2);
}

static int number(const char *text) {
  int value = atoi(text);
  return value < 0 ? 0 : value;
}

static void options(int argc, char **argv) {
  int option;
  while ((option = getopt(argc, argv, "vp:t:")) != -1) {
    switch (option) {
    case 'v': verbose++; break;
    case 'p': port = number(optarg); break;
    case 't':
      strncpy(title, optarg, sizeof title - 1);
      break;
    default: usage(argv[0]);
    }
  }
  for (int i = 0; i < port && i < 256; i++) wanted[i] = 1;
  factor = port / 2.0;
}

static void handle(unsigned char *user, const struct pcap_pkthdr *header, const unsigned char *data) {
  (void)user;
  packets++;
  bytes += header->len;
  if (header->caplen > 23 && data[12] == 8 && data[13] == 0)
    by_protocol[data[23]]++;
  else
    odd++;
  if (verbose > 2 && header->caplen > 23 && wanted[data[23]])
    printf("%s %u %.1f\n", title, data[23], factor);
}

static void report(void) {
  printf("%ld packets, %lu bytes\n", packets, bytes);
  if (odd)
    printf("%s: %d of %ld are odd\n", title, odd, packets);
  for (int i = 0; i < 256; i++)
    if (by_protocol[i]) printf("protocol %d: %u\n", i, by_protocol[i]);
}

int main(int argc, char **argv) {
  char error[PCAP_ERRBUF_SIZE];
  options(argc, argv);
  pcap_t *capture = pcap_open_offline(argv[optind], error);
  if (!capture) {
    fprintf(stderr, "%s\n", error);
    return 2;
  }
  pcap_loop(capture, -1, handle, 0);
  report();
  pcap_close(capture);
  return 0;
}
