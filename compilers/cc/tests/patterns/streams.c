/* The protocols of some streams, whole and in pieces of every size, two streams taking turns. */
#include "push.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *pattern_name(int token);
size_t pattern_bytes(char *to, const char *from, size_t count);

struct stream {
  const char *bytes;
  size_t len;
};

#define STREAM(text) { text, sizeof text - 1 }

static const struct stream streams[] = {
  STREAM("SSH-2.0-OpenSSH_9"),
  STREAM("GET /index.html HTTP/1.1\r\n\r\n"),
  STREAM("some bytes, then heLLo, my World and more"),
  STREAM("login:\xff\xfd\x01\xff\xfb more"),
  STREAM("220 host ready for mAiL\r\n"),
  STREAM("well\r\nEHLO x"),
  STREAM("xxxbbc"),
  STREAM("xxxaaaabc"),
  STREAM("g\0e\0t\0 /x h\0ttp/1.0"),
  STREAM(" get /x http/1.0"),
  STREAM("nothing of the kind"),
  STREAM("hello, and far from it, world"),
};

static void found(int token, void *user) {
  int *first = user;
  if (!*first)
    *first = token;
}

int main(void) {
  int different = 0;
  for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
    int first = 0;
    struct yyflow *flow = yyflow_new();
    char bytes[256];
    int len = (int)pattern_bytes(bytes, streams[i].bytes, streams[i].len);
    yyflow_scan(flow, bytes, len, 1, found, &first);
    yyflow_free(flow);
    const char *name = pattern_name(first);
    printf("%s\n", name ? name : "-");
    for (int size = 1; size < len; size++) {
      int again[2] = {0, 0};
      struct yyflow *two[2] = {yyflow_new(), yyflow_new()};
      for (int at = 0; at < len; at += size)
        for (int one = 0; one < 2; one++) {
          int count = len - at < size ? len - at : size;
          yyflow_scan(two[one], bytes + at, count, at + count == len, found, &again[one]);
        }
      different += again[0] != first || again[1] != first;
      yyflow_free(two[0]);
      yyflow_free(two[1]);
    }
  }
  if (pattern_name(0) || pattern_name(-1) || pattern_name(1000))
    different++;
  return different;
}
