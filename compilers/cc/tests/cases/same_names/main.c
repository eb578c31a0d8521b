/* Two files with statics and static functions of the same name, and other types. */
#include <stdio.h>
static int time_now = 1;
static int tick(void) { return ++time_now; }
unsigned long other(void);
int main(void) {
  int now = tick();
  printf("%d %lu %d\n", now, other(), time_now);
  return time_now != 2;
}
