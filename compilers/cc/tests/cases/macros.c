/* Macros that name variables, call functions, use an argument twice, or hide an allocation. */
#include <stdio.h>
#include <stdlib.h>

static int count, limit = 3;
static int bump(int by) { return count += by; }
static void *allocate(size_t size) { count++; return malloc(size); }

#define LIMIT limit
#define BUMP(by) bump(by)
#define BIGGER(a, b) ((a) > (b) ? (a) : (b))
#define NEW(type) ((type *)allocate(sizeof(type)))
#define NEXT() (count < LIMIT ? BUMP(1) : BUMP(0))

int main(void) {
  int *number = NEW(int);
  *number = BIGGER(count, LIMIT);
  printf("%d %d\n", *number, BIGGER(BUMP(1), BUMP(2)));
  while (NEXT() < LIMIT) {}
  printf("%d\n", count);
  return 0;
}
