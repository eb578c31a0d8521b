/* Each core has timers of its own, and flags that their handlers set. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t is_time;
static int rounds;

static void on_alarm(int number) { is_time = number == SIGALRM; }

static void handle(int number, void (*handler)(int)) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  sigaction(number, &action, NULL);
}

int main(void) {
  struct itimerval soon = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}}, left;
  handle(SIGALRM, on_alarm);
  if (alarm(100) != 0 || alarm(0) != 100) return 1;
  if (setitimer(ITIMER_REAL, &soon, NULL)) return 2;
  while (rounds < 3) {
    if (!is_time) continue;
    is_time = 0;
    rounds++;
  }
  if (setitimer(ITIMER_REAL, &never, &left) || left.it_interval.tv_usec != 1000) return 3;
  printf("%d\n", rounds);
  return 0;
}
