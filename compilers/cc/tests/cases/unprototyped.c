/* flags: -Wno-deprecated-non-prototype
 * A declaration without a prototype, and a definition without one. */
#include <stdio.h>

static int state;
extern int bump();
static int twice();

int main(argc, argv)
  int argc;
  char **argv;
{
  (void)argc, (void)argv;
  printf("%d\n", bump(2));
  printf("%d\n", twice(3, "x"));
  return state != 8;
}

int bump(n)
  int n;
{
  return state += n;
}

static int twice(n, text)
  int n;
  const char *text;
{
  return state += *text ? 2 * n : 0;
}
