/* Functions by address: in fields, tables, parameters, typedefs of functions, through void *. */
#include <stdio.h>

typedef int operation(int);
typedef int (*pointer)(int);
static int state = 10;

int add(int), subtract(int);
int add(int n) { return state += n; }
int subtract(int n) { return state -= n; }

struct entry { const char *name; pointer call; };
static const struct entry entries[] = {{"add", add}, {.name = "subtract", .call = &subtract}};

static int apply(operation *what, int n) { return what(n); }
static int through(void *what, int n) { return ((pointer)what)(n); }

int main(void) {
  for (unsigned i = 0; i < sizeof entries / sizeof *entries; i++)
    printf("%s %d\n", entries[i].name, entries[i].call(3));
  printf("%d\n", apply(state > 9 ? add : subtract, 1));
  printf("%d\n", through((void *)subtract, 5));
  printf("%d %d\n", entries[0].call == add, (*entries[1].call)(1));
  return state != 5;
}
