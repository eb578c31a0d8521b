/* Standard output by number and by name, and a standard input that says what is looked for. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static unsigned sizes[16];
static int size_count;
static FILE *named, *numbered;
static int opened;
static const char *added;

static void on_packet(unsigned char *user, const struct pcap_pkthdr *header,
                      const unsigned char *data) {
  char line[64];
  snprintf(line, sizeof line, "%ld.%06ld", (long)header->ts.tv_sec, (long)header->ts.tv_usec);
  struct iovec pieces[2] = {{line, strlen(line)}, {" v\n", 3}};
  if (write(1, line, strlen(line)) < 0 || write(STDOUT_FILENO, " w\n", 3) < 0) exit(9);
  if (writev(1, pieces, 2) < 0 || write(opened, "o\n", 2) < 0) exit(8);
  dprintf(1, "%s d\n", line);
  fprintf(named, "%s n\n", line);
  fprintf(numbered, "%s f\n", line);
  for (int at = 0; at < size_count; at++)
    if (header->len == sizes[at]) printf("%s has %u\n", line, sizes[at]);
  putchar_unlocked('p');
  putchar_unlocked('\n');
  FILE *file = fopen(added, "a");
  if (!file) exit(7);
  for (int at = 0; at < 200; at++) fprintf(file, "%s %d\n", line, at);
  fclose(file);
}

int main(int argc, char **argv) {
  char error[PCAP_ERRBUF_SIZE], line[64];
  pcap_t *capture = pcap_open_offline(argv[1], error);
  if (argc < 3 || !capture) return 2;
  if (!fgets(line, sizeof line, stdin) || strcmp(line, "sizes\n")) return 3;
  while (size_count < 16 && scanf("%u", &sizes[size_count]) == 1) size_count++;
  if (getchar() != EOF) return 4;
  if (write(1, "begin\n", 6) < 0) return 5;
  added = argv[2];
  named = fopen("/dev/stdout", "a");
  numbered = fdopen(1, "w");
  opened = open("/dev/fd/1", O_WRONLY | O_APPEND);
  if (!named || !numbered || opened < 0) return 6;
  /* What streams hold back would go out in the middle of other lines. */
  if (setvbuf(stdout, 0, _IOLBF, BUFSIZ)) return 7;
  if (setvbuf(named, 0, _IOLBF, BUFSIZ) || setvbuf(numbered, 0, _IOLBF, BUFSIZ)) return 7;
  pcap_loop(capture, -1, on_packet, 0);
  fclose(named);
  fflush(numbered);
  pcap_close(capture);
  return 0;
}
