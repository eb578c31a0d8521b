/* Declarations with empty parentheses of functions without parameters: compilers see them agree. */
#include <stdio.h>

static int count;
static int next();
int shown();
static int ignores();

int main(void) {
  printf("%d\n", next());
  return shown() + ignores() - 3;
}

static int next() { return ++count; }

int shown() {
  int total();
  return printf("%d\n", total()) > 0 ? next() : 9;
}

int total() { return count * 10; }

static int ignores() { return count - 1; }
