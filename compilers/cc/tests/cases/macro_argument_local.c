/* A macro that passes a local name first to a function with state. */
#include <stdio.h>

struct options { int base; };
static int total;

static int add(struct options *options, int value) { return total += options->base + value; }
#define ADD(value) add(options, value)
#define PRINT(...) printf(__VA_ARGS__)

static void show(struct options *options) { PRINT("%d %d\n", ADD(1), options->base); }

int main(void) {
  struct options ten = {10}, *options = &ten;
  show(options);
  return ADD(2) - 23;
}
