/* A constant table that holds addresses of private variables: each core has its own table. */
#include <stdio.h>

static int hits, misses;
static int *const counters[] = {&hits, &misses};
static int *last = &misses;
struct named { const char *name; int *value; };
static const struct named names[2] = {{"hits", &hits}, [1] = {.name = "misses", .value = &misses}};

static void count(int which) { ++*counters[which]; }

int main(void) {
  count(0);
  count(1);
  count(1);
  for (int i = 0; i < 2; i++) printf("%s %d\n", names[i].name, *names[i].value);
  ++*last;
  printf("%d\n", misses);
  return hits != 1 || misses != 3;
}
