/* refused: atexit may call `at_end`, which uses private state */
#include <stdlib.h>

static int count;

static void at_end(void) { count++; }

int main(void) {
  atexit(at_end);
  return count;
}
