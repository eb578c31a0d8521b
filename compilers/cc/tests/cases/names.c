/* The name of a private variable for other things: fields, labels, tags, locals, parameters. */
#include <stdio.h>

struct count { int count; };
static int count;

static int use(int n) { return count += n; }
static int shadow(int count) { return count * 2; }

int main(void) {
  struct count a = {.count = 4};
  if (use(1) > 9) goto count;
  { int count = 5; a.count += count; }
  printf("%d %d %d\n", a.count, shadow(count), count);
count:
  return use(0) != 1;
}
