/* refused: signal may call `on_signal`, which uses private state */
#include <signal.h>

static int count;

static void on_signal(int number) { count += number; }

int main(void) {
  signal(SIGUSR1, on_signal);
  return count;
}
