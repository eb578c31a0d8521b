/* A handler that sets a flag: the flag is one for all cores. */
#include <signal.h>
#include <stdio.h>

static volatile sig_atomic_t stops;
static int count;

static void on_signal(int number) { stops = number; }

int main(void) {
  signal(SIGUSR1, on_signal);
  raise(SIGUSR1);
  while (!stops) count++;
  printf("%d %d\n", stops == SIGUSR1, count);
  return count;
}
