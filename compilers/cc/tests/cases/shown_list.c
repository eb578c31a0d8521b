/* A list of names, of which macros make texts and code in turns. */
#include <stdio.h>
static int first, second;
#define NAMES NAME(first) NAME(second)
int main(void)
{
#define NAME(name) name += 2;
  NAMES
#undef NAME
#define NAME(name) printf(#name " %d\n", name);
  NAMES
#undef NAME
  return 0;
}
