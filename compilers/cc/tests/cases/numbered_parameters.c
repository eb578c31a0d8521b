/* Attributes that give numbers of parameters, also by way of a macro. */
#include <stdarg.h>
#include <stdio.h>

#define PRINTF_LIKE(format, first) __attribute__((__format__(__printf__, format, first)))

static int lines;
static void say(int level, const char *format, ...) PRINTF_LIKE(2, 3);
static size_t length(const char *text) __attribute__((nonnull(1)));

static void say(int level, const char *format, ...) {
  va_list list;
  va_start(list, format);
  lines += level;
  vprintf(format, list);
  va_end(list);
}

static size_t length(const char *text) { return lines + (text[0] ? 1 : 0); }

int main(void) {
  say(1, "%d %s\n", 7, "x");
  return (int)length("a") - 2;
}
