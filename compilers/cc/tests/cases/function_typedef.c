/* A function that a type's name declares has no list of parameters: it finds its core itself. */
#include <stdio.h>

typedef int operation(int);
static int state;
operation add;
static int twice(int n) { return add(n) + add(n); }
int add(int n) { return state += n; }
int main(void) {
  operation *what = add;
  printf("%d %d %d\n", twice(2), what(1), state);
  return state != 5;
}
