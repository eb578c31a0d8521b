/* Tokens of a stream: as a whole, in two pieces at every byte, and in pieces of every size while a
 * second stream takes turns with it. */
#include "push.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct log {
  char text[65536];
  int at;
};

static void token(int found, void *user) {
  struct log *log = user;
  log->at += snprintf(log->text + log->at, sizeof log->text - log->at, "%d ", found);
}

static struct log whole, pieces, other;

static void scan(struct yyflow *flow, const char *text, int at, int count, int length,
                 struct log *log) {
  yyflow_scan(flow, text + at, count, at + count == length, token, log);
}

static int differs(void) { return strcmp(whole.text, pieces.text) || strcmp(whole.text, other.text); }

static void clear(void) {
  memset(&pieces, 0, sizeof pieces);
  memset(&other, 0, sizeof other);
}

int main(int argc, char **argv) {
  static char text[4096];
  FILE *file = fopen(argv[argc - 1], "r");
  int length = (int)fread(text, 1, sizeof text, file), different = 0;
  fclose(file);
  struct yyflow *flow = yyflow_new(), *second;
  scan(flow, text, 0, length, length, &whole);
  yyflow_free(flow);
  for (int cut = 0; cut <= length; cut++) {
    clear();
    flow = yyflow_new();
    yyflow_scan(flow, text, cut, 0, token, &pieces);
    yyflow_scan(flow, text + cut, length - cut, 1, token, &pieces);
    yyflow_free(flow);
    other = pieces;
    different += differs() != 0;
  }
  for (int size = 1; size < 40; size++) {
    clear();
    flow = yyflow_new();
    second = yyflow_new();
    for (int at = 0; at < length; at += size) {
      int count = length - at < size ? length - at : size;
      scan(flow, text, at, count, length, &pieces);
      scan(second, text, at, count, length, &other);
    }
    yyflow_free(flow);
    yyflow_free(second);
    different += differs() != 0;
  }
  printf("%s\n", whole.text);
  return different;
}
