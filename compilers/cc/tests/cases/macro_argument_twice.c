/* Macros that use an argument twice, in two ways: what is written is private, and `assert`, which
 * asks for the size of its argument before its value, sees a core's own. */
#include <assert.h>
#include <stdio.h>

#define RAISE(to, value) do { if ((to) < (value)) (to) = (value); } while (0)
#define SHOW_AND_SET(array) (puts(array), scan(array))

static int highest, is_started;
static char text[4] = "a";

static void scan(char *to) { to[0]++; }

static void start(void) { is_started = 1; }

static void see(int value) {
  assert(is_started);
  RAISE(highest, value);
  SHOW_AND_SET(text);
}

int main(void) {
  start();
  see(3);
  see(2);
  printf("%d %s\n", highest, text);
  return is_started + highest - 4;
}
