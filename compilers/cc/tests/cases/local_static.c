/* Statics of functions, with and without initial values, several in one declaration. */
#include <stdio.h>

struct point { int x, y; };
enum { START = 7 };

static int next(void) {
  static int number = START, step[2] = {1, 2};
  static const char *names[] = {"odd", "even"};
  number += step[number & 1];
  printf("%s %s\n", names[0], names[1]);
  return number;
}

static char *text(int n) {
  static char buffer[16]; static struct point last = {.y = 4};
  last.x += n;
  snprintf(buffer, sizeof buffer, "%d,%d", last.x, last.y);
  return buffer;
}

int main(void) {
  for (int i = 0; i < 3; i++) {
    static long counter;
    printf("%d %s %ld\n", next(), text(i), ++counter);
  }
  return 0;
}
