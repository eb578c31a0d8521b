/* flags: -Wno-deprecated-non-prototype
 * A callback cannot pass on any number of arguments: the function finds its core itself. */
#include <stdarg.h>
#include <stdio.h>

static int lines;

struct sink { int (*write)(const char *text, ...) __attribute__((format(printf, 1, 2))); };

static int log_line(const char *text, ...) {
  va_list list;
  va_start(list, text);
  printf("%d: ", ++lines);
  vprintf(text, list);
  va_end(list);
  return lines;
}

static int old_style(text, count)
  const char *text;
  int count;
{
  return log_line("%s %d\n", text, count);
}

static const struct sink sinks[] = {{log_line}, {.write = &log_line}};

int main(void) {
  int (*sink)(const char *, ...) = log_line;
  sink("%s\n", "x");
  sinks[1].write("%d\n", 2);
  old_style("y", 3);
  return log_line("z\n") != 4;
}
