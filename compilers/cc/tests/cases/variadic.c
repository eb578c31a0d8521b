/* Any number of arguments: the context stands before them. */
#include <stdarg.h>
#include <stdio.h>

static char line[64];
static int lines;

static const char *format(const char *text, ...) {
  va_list list;
  va_start(list, text);
  vsnprintf(line, sizeof line, text, list);
  va_end(list);
  lines++;
  return line;
}

#define LOG(...) puts(format(__VA_ARGS__))

int main(void) {
  LOG("%d and %s", 1, "two");
  LOG("nothing");
  return lines != 2;
}
