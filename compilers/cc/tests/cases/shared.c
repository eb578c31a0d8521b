/* Constant or never written: one for all cores. */
#include <stdio.h>

static const int table[] = {1, 2, 3};
static const char *words[] = {"a", "b"};
static struct { int a, b; } pair = {1, 2};
static int counter;

int main(void) {
  for (int i = 0; i < 2; i++) counter += table[i];
  printf("%s %s %d %d\n", words[0], words[1], pair.a + pair.b, counter);
  return counter != 3;
}
