/* A variable that each thread has already stays as it is. */
#include <stdio.h>

static __thread int of_thread;
static _Thread_local int also = 5;
static int of_core;

int main(void) {
  of_thread++, also++, of_core++;
  printf("%d %d %d\n", of_thread, also, of_core);
  return of_thread != 1 || also != 6;
}
