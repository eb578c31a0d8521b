/* What a core has asked for: functions at its end, a signal when some time has passed. */
#define _GNU_SOURCE
#include "flowpin_core.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* The last first. */
struct at_end {
  void (*function)(void);
  struct at_end *next;
};

static _Thread_local struct at_end *at_end;
static _Thread_local timer_t timer;
static _Thread_local int has_timer;

/* Each core ends by itself, and so do its functions: on its own state. */
int flowpin_atexit(void (*function)(void)) {
  if (!flowpin_worker) return atexit(function);
  struct at_end *one = malloc(sizeof *one);
  if (!one) return -1;
  one->function = function;
  one->next = at_end;
  at_end = one;
  return 0;
}

static void run_at_end(void) {
  while (at_end) {
    struct at_end *one = at_end;
    void (*function)(void) = one->function;
    at_end = one->next;
    free(one);
    function();
  }
}

/* A core returns from the program's main function, or calls exit. */
void flowpin_leave(int code) {
  run_at_end();
  flowpin_finish(code);
}

/* A core has no use any more for what it asked for. */
void flowpin_forget_requests(void) {
  if (has_timer) timer_delete(timer);
  has_timer = 0;
  while (at_end) {
    struct at_end *next = at_end->next;
    free(at_end);
    at_end = next;
  }
}

/* A timer of the core's own, whose signal comes to its thread. */
static int own_timer(void) {
  struct sigevent event;
  sigset_t alarm_only;
  if (has_timer) return 0;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_notify_thread_id = gettid();
  event.sigev_signo = SIGALRM;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer)) return -1;
  has_timer = 1;
  sigemptyset(&alarm_only);
  sigaddset(&alarm_only, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarm_only, 0);
  return 0;
}

static struct timespec fine(struct timeval time) {
  return (struct timespec){time.tv_sec, time.tv_usec * 1000};
}

static struct timeval coarse(struct timespec time) {
  return (struct timeval){time.tv_sec, time.tv_nsec / 1000};
}

static int only_real(int which) {
  if (which == ITIMER_REAL) return 0;
  fputs("flowpin: timers of processor time need FLOWPIN_WAYS=1\n", stderr);
  errno = ENOSYS;
  return -1;
}

int flowpin_setitimer(int which, const struct itimerval *wanted, struct itimerval *before) {
  if (!flowpin_worker) return setitimer(which, wanted, before);
  if (only_real(which) || own_timer()) return -1;
  struct itimerspec set = {fine(wanted->it_interval), fine(wanted->it_value)}, old;
  if (timer_settime(timer, 0, &set, &old)) return -1;
  if (before) *before = (struct itimerval){coarse(old.it_interval), coarse(old.it_value)};
  return 0;
}

int flowpin_getitimer(int which, struct itimerval *now) {
  struct itimerspec left;
  if (!flowpin_worker) return getitimer(which, now);
  if (only_real(which) || own_timer() || timer_gettime(timer, &left)) return -1;
  *now = (struct itimerval){coarse(left.it_interval), coarse(left.it_value)};
  return 0;
}

unsigned flowpin_alarm(unsigned seconds) {
  struct itimerval wanted = {{0, 0}, {(time_t)seconds, 0}}, before;
  if (!flowpin_worker) return alarm(seconds);
  if (flowpin_setitimer(ITIMER_REAL, &wanted, &before)) return 0;
  /* A timer that is set has a second left at least. */
  int rounds_up = before.it_value.tv_usec >= 500000 ||
                  (before.it_value.tv_sec == 0 && before.it_value.tv_usec > 0);
  return (unsigned)before.it_value.tv_sec + (unsigned)rounds_up;
}

unsigned flowpin_ualarm(unsigned wait_us, unsigned interval_us) {
  struct itimerval wanted = {{interval_us / 1000000, interval_us % 1000000},
                             {wait_us / 1000000, wait_us % 1000000}};
  struct itimerval before;
  if (!flowpin_worker) return ualarm(wait_us, interval_us);
  if (flowpin_setitimer(ITIMER_REAL, &wanted, &before)) return (unsigned)-1;
  return (unsigned)(before.it_value.tv_sec * 1000000 + before.it_value.tv_usec);
}
