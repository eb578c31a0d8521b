/* sizeof and typeof name a variable without using it. */
#include <stdio.h>

static char buffer[40];
static int number;
static char other[sizeof(buffer) / 2];

int main(void) {
  __typeof__(number) copy = ++number;
  char text[sizeof buffer];
  snprintf(buffer, sizeof buffer, "%zu %zu", sizeof(other), sizeof(text));
  snprintf(other, sizeof other, "%d", copy);
  printf("%s %s\n", buffer, other);
  return 0;
}
