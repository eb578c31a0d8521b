/* Writes its outputs in all the ways that programs have: by descriptor, as a capture, as another
 * standard output, in a file that is closed and opened again, and under a name that changes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static int raw;
static FILE *locked;
static const char *log_path;
static pcap_dumper_t *dumper;

static const char *in(const char *folder, const char *name) {
  char *path;
  if (asprintf(&path, "%s/%s", folder, name) < 0) exit(9);
  return path;
}

static void say(int number, const char *text) {
  if (write(number, text, strlen(text)) < 0) exit(8);
}

static void on_packet(unsigned char *user, const struct pcap_pkthdr *header,
                      const unsigned char *data) {
  char line[64];
  snprintf(line, sizeof line, "%ld.%06ld %u\n", (long)header->ts.tv_sec, (long)header->ts.tv_usec,
           header->len);
  say(raw, line);
  fputs(line, locked);
  printf("%s", line);
  pcap_dump((unsigned char *)dumper, header, data);
  FILE *log = fopen(log_path, "a");
  if (!log) exit(7);
  fputs(line, log);
  fclose(log);
}

/* As daemons open what no other is to have. */
static FILE *open_locked(const char *path) {
  int number = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW);
  if (number < 0) number = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (number < 0 || flock(number, LOCK_EX | LOCK_NB)) exit(6);
  return fdopen(number, "a");
}

int main(int argc, char **argv) {
  char error[PCAP_ERRBUF_SIZE], text[16] = "";
  const char *folder = argv[2], *early = in(folder, "early");
  pcap_t *capture = pcap_open_offline(argv[1], error);
  if (argc < 3 || !capture) return 2;

  raw = open(early, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  say(raw, "begin\n");
  rename(early, in(folder, "raw"));
  locked = open_locked(in(folder, "locked"));
  log_path = in(folder, "log");
  FILE *log = fopen(log_path, "w");
  fputs("begin\n", log);
  fclose(log);
  log = fopen(log_path, "r");
  if (!log || !fgets(text, sizeof text, log) || strcmp(text, "begin\n")) return 3;
  fclose(log);
  dumper = pcap_dump_open(capture, in(folder, "dump.pcap"));
  if (!dumper) return 4;
  printf("before\n");
  if (!freopen(in(folder, "standard"), "w", stdout)) return 5;

  pcap_loop(capture, -1, on_packet, 0);
  pcap_dump_close(dumper);
  fclose(locked);
  close(raw);
  pcap_close(capture);
  return 0;
}
