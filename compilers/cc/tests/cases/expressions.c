/* Every kind of expression that can hold a variable. */
#include <stdio.h>

struct inner { int a[2]; struct inner *next; };
static struct inner one = {{1, 2}, 0}, *here = &one;
static int x, y = 3, list[4];

static int f(int a, int *b) { return a + ++*b; }

int main(void) {
  int (*local)[4] = &list;
  x = y, y = x + 1;
  x += y ? list[y - 4] : -1;
  (*local)[1] = f(x, &y);
  int z = ({ int t = x; t + y; });
  struct inner copy = {.a = {x, y}, .next = here};
  here = (struct inner *)&(struct inner){{x}, &one};
  for (x = 0; x < 2; x++) list[x] += here->next->a[x];
  do y--; while (y > 2);
  switch (y) { case 2: list[3] = sizeof list / sizeof *list; }
  __asm__("" : "+r"(x));
  printf("%d %d %d %d %d %d\n", x, y, z, list[1], list[3], copy.next == &one);
  return one.a[0] != 1;
}
