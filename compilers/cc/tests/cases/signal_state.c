/* A handler that uses private state: signals come to the first core alone. */
#include <signal.h>
#include <stdio.h>

static int count;

static void on_signal(int number) { count += number == SIGUSR1; }

int main(void) {
  signal(SIGUSR1, on_signal);
  raise(SIGUSR1);
  printf("%d\n", count);
  return count > 1;
}
