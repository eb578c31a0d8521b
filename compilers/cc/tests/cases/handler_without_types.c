/* A handler that is declared without types: whoever asks for a function of any type gets it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static int count;
static void wind_up();

int main(void) {
  signal(SIGUSR1, wind_up);
  raise(SIGUSR1);
  wind_up();
  printf("%d\n", count);
  return 0;
}

static void wind_up() { count++; }
