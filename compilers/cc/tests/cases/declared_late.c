/* Types and variables that are declared after the first function: a second structure. */
#include <stdio.h>

static int early;
static int first(void) { return ++early; }

struct late { int a[3]; };
static struct late late = {{1, 2, 3}};
static int second(void) { return late.a[1]++ + first(); }

int main(void) {
  printf("%d\n", second());
  printf("%d\n", second());
  return early != 2;
}
