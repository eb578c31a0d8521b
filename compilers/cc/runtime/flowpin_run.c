/* The run-time's main function: cores, their serial and parallel phases, the input.
 *
 * A program in several stages has cores for each of them. All run the whole program; packets come
 * to the first stage's, and a cut hands calls on to the cores of a later one.
 *
 *   serial     core 0, then core 1, … each runs from its start to its first call for a packet
 *   parallel   this thread reads the capture and gives each packet to its core
 *   serial     core 0, then core 1, … each runs from its last packet to its end
 */
#define _GNU_SOURCE
#include "flowpin_core.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Thread_local struct flowpin_worker *flowpin_worker;
static _Thread_local struct flowpin_core *self;
int flowpin_ways;
_Atomic int flowpin_stops_input;
static sigset_t signals_of_program;

#define RING_BYTES (4ul << 20)
#define WAYS_MAX 256

static struct flowpin_worker *workers;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;           /* whose serial phase it is; `flowpin_ways`: packets come */
static int finished_count; /* workers that have ended */
static int *finished;
static int packets_count;  /* workers that wait for packets */
static int packets_round;  /* how often packets have begun to come */
static int first_count;    /* of them, those of the first stage */
static int once_count;     /* workers that wait at a statement that runs once */
static int once_round;     /* how often all have got to one */
static int once_first;     /* who runs it */
static pcap_t *opened;     /* what the first worker has opened, not yet read */

struct flowpin_core *flowpin_self(void) { return self; }
int flowpin_core_number(void) { return flowpin_worker ? flowpin_worker->number : 0; }

void flowpin_die(const char *what) {
  if (flowpin_worker) flowpin_show_said(flowpin_worker);
  fprintf(stderr, "flowpin: %s\n", what);
  _exit(1);
}

static int unfinished_from(int number) {
  while (number < flowpin_ways && finished[number]) number++;
  return number;
}

/* With the lock held: the next worker that has not ended, or packets. */
static void pass_turn(int from) {
  turn = unfinished_from(from);
  if (turn == flowpin_ways && once_count && once_count + finished_count == flowpin_ways) {
    once_count = 0;
    once_round++;
    turn = once_first = unfinished_from(0);
  }
  pthread_cond_broadcast(&changed);
}

static void wait_turn(int number) {
  while (turn != number) pthread_cond_wait(&changed, &lock);
}

/* Later stages wait for what a core hands on after its packets, too: they hear of the end when it
 * goes on to something else. */
static void tell_end(struct flowpin_worker *worker) {
  if (!worker->owes_end) return;
  worker->owes_end = 0;
  flowpin_hand_all(worker, FLOWPIN_END);
}

/* What is one for all cores has been set by the first that gets here; the others have set it to the
 * same, or the program is not what the compiler took it for. Only one core runs meanwhile. */
static void compare_configuration(struct flowpin_worker *worker) {
  static int is_set;
  if (!flowpin_program.set_once || worker->had_packets) return;
  const char *odd = flowpin_program.set_once(is_set ? 3 : 2);
  is_set = 1;
  if (!odd) return;
  fprintf(stderr, "flowpin: core %d sets `%s` to another value than the first core: ", worker->number,
          odd);
  flowpin_die("add `#pragma flowpin private` with its name");
}

void flowpin_packets_begin(void) {
  struct flowpin_worker *worker = flowpin_worker;
  compare_configuration(worker);
  tell_end(worker);
  worker->owes_end = 1;
  worker->discards = 0;
  for (int input = 0; input < worker->input_count; input++) worker->inputs[input]->is_ended = 0;
  flowpin_mark(worker, FLOWPIN_AT_PACKETS);
  worker->is_in_packets = 1;
  pthread_mutex_lock(&lock);
  packets_count++;
  first_count += worker->stage == 0;
  int round = packets_round;
  pass_turn(worker->number + 1);
  /* Nothing runs in parallel before all are here: what is set once is set. */
  while (packets_round == round) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

void flowpin_packets_end(void) {
  struct flowpin_worker *worker = flowpin_worker;
  flowpin_show_said(worker);
  flowpin_mark(worker, FLOWPIN_AT_END);
  /* While it waits for its turn, later stages are not to wait for it. */
  flowpin_promise(worker, worker->sequence);
  worker->is_in_packets = 0;
  worker->had_packets = 1;
  pthread_mutex_lock(&lock);
  packets_count--;
  first_count -= worker->stage == 0;
  pthread_cond_broadcast(&changed);
  wait_turn(worker->number);
  pthread_mutex_unlock(&lock);
}

/* Whether this core runs a statement that is to run once. After the packets all cores meet there,
 * so that the first of them has the sums of all. */
int flowpin_once(void) {
  struct flowpin_worker *worker = flowpin_worker;
  if (!worker) return 1;
  if (!worker->had_packets || worker->is_in_packets) return worker->number == 0;
  flowpin_mark(worker, FLOWPIN_AT_ONCE);
  worker->had_once = 1;
  tell_end(worker);
  pthread_mutex_lock(&lock);
  if (flowpin_program.reduce) flowpin_program.reduce(worker->core, 0);
  int round = once_round;
  once_count++;
  pass_turn(worker->number + 1);
  while (once_round == round || turn != worker->number) pthread_cond_wait(&changed, &lock);
  int is_first = once_first == worker->number;
  if (is_first && flowpin_program.reduce) flowpin_program.reduce(worker->core, 1);
  pthread_mutex_unlock(&lock);
  return is_first;
}

void flowpin_finish(int code) {
  struct flowpin_worker *worker = flowpin_worker;
  flowpin_show_said(worker);
  if (worker->number == 0 && !worker->had_packets && !worker->is_in_packets && code != 0) {
    /* It does not even start: the others would only say the same. */
    flowpin_merge(worker, 1);
    exit(code);
  }
  pthread_mutex_lock(&lock);
  int is_alone = worker->number > 0 && !worker->had_packets && !worker->is_in_packets && packets_count;
  pthread_mutex_unlock(&lock);
  if (is_alone) {
    /* Its packets would be lost: a lock that one core has, say. */
    flowpin_show_output(worker);
    fprintf(stderr, "flowpin: core %d ended with code %d before packets came, the first core did not: ",
            worker->number, code);
    flowpin_die("the program needs FLOWPIN_WAYS=1");
  }
  worker->code = code;
  if ((worker->had_packets || worker->is_in_packets) && flowpin_program.reduce) {
    /* It does not come to a statement that runs once: its numbers still belong to the sums. */
    pthread_mutex_lock(&lock);
    flowpin_program.reduce(worker->core, 0);
    pthread_mutex_unlock(&lock);
  }
  tell_end(worker);
  flowpin_forget_requests();
  flowpin_forget_names();
  for (int input = 0; input < worker->input_count; input++)
    flowpin_ring_abandon(worker->inputs[input]);
  pthread_mutex_lock(&lock);
  if (worker->is_in_packets) {
    packets_count--;
    first_count -= worker->stage == 0;
    atomic_store(&flowpin_stops_input, 1);
  }
  flowpin_account_core(worker);
  finished[worker->number] = 1;
  finished_count++;
  if (turn == worker->number) pass_turn(worker->number + 1);
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  pthread_exit(0);
}

void flowpin_source_opened(pcap_t *capture) {
  pthread_mutex_lock(&lock);
  opened = capture;
  pthread_mutex_unlock(&lock);
}

pcap_t *flowpin_source(void) { return opened; }

static void pin(int number) {
  cpu_set_t allowed, one;
  const char *wish = getenv("FLOWPIN_PIN");
  if (wish && !strcmp(wish, "0")) return;
  if (sched_getaffinity(0, sizeof allowed, &allowed)) return;
  int count = CPU_COUNT(&allowed);
  if (flowpin_ways > count) return; /* cores are shared: the system knows better */
  for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &allowed) && seen++ == number) {
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    }
}

static struct flowpin_core *new_core(void) {
  size_t size = (flowpin_program.core_size + 127) & ~(size_t)127;
  struct flowpin_core *core = aligned_alloc(128, size ? size : 128);
  if (!core) flowpin_die("no memory for a core's state");
  memset(core, 0, size ? size : 128);
  if (flowpin_program.init) flowpin_program.init(core);
  return core;
}

static void *run_worker(void *given) {
  struct flowpin_worker *worker = given;
  flowpin_worker = worker;
  /* Handlers run on the first core alone: its state is theirs. */
  if (worker->number == 0) pthread_sigmask(SIG_SETMASK, &signals_of_program, 0);
  pin(worker->number);
  self = worker->core = new_core();
  pthread_mutex_lock(&lock);
  wait_turn(worker->number);
  pthread_mutex_unlock(&lock);
  optind = 1;
  if (flowpin_program.set_once) flowpin_program.set_once(1);
  flowpin_note_descriptors(worker);
  flowpin_leave(flowpin_program.start(self, worker->argc, worker->argv));
}

/* Each core may change its arguments. */
static char **copy_of(int argc, char **argv) {
  char **copy = calloc((size_t)argc + 1, sizeof *copy);
  if (!copy) flowpin_die("no memory for arguments");
  for (int at = 0; at < argc; at++) copy[at] = strdup(argv[at]);
  return copy;
}

static int first_ways; /* cores of the first stage */
static unsigned long sequence;

static void give(struct flowpin_worker *worker, enum flowpin_kind kind,
                 const struct pcap_pkthdr *header, const unsigned char *data) {
  struct flowpin_ring *ring = worker->inputs[0];
  unsigned long length = kind == FLOWPIN_PACKET ? header->caplen : 0;
  if (!flowpin_ring_fits(ring, length)) flowpin_die("a packet is larger than half a core's ring");
  struct flowpin_element *element = flowpin_ring_reserve(ring, sequence, length);
  if (!element) return;
  element->kind = kind;
  element->header = *header;
  if (length) memcpy(element + 1, data, length);
  flowpin_ring_commit(ring, element);
}

static void promise_all(void) {
  for (int number = 0; number < first_ways; number++)
    flowpin_ring_flush(workers[number].inputs[0], sequence);
}

static void give_all(enum flowpin_kind kind, const struct pcap_pkthdr *header) {
  sequence++;
  for (int number = 0; number < first_ways; number++) give(&workers[number], kind, header, 0);
  promise_all();
}

/* While an interface is silent, what has come is shown to the cores, and a stop is noticed. */
static void wait_for_interface(pcap_t *capture) {
  struct pollfd one = {pcap_get_selectable_fd(capture), POLLIN, 0};
  promise_all();
  poll(&one, 1, 20);
}

/* Reads one capture to its end. */
static void dispatch(pcap_t *capture) {
  struct pcap_pkthdr *header, last;
  const unsigned char *data;
  long next_tick = 0;
  int link_type = pcap_datalink(capture), outcome;
  char error[PCAP_ERRBUF_SIZE];
  int is_live = !pcap_file(capture);
  memset(&last, 0, sizeof last);
  /* libpcap waits for ever on a silent interface. */
  if (is_live) pcap_setnonblock(capture, 1, error);
  while ((outcome = pcap_next_ex(capture, &header, &data)) >= 0) {
    if (atomic_load_explicit(&flowpin_stops_input, memory_order_relaxed)) break;
    if (outcome == 0) {
      wait_for_interface(capture);
      continue;
    }
    unsigned hash = flowpin_hash(flowpin_program.key, link_type, data, header->caplen);
    sequence++;
    flowpin_account_packet();
    give(&workers[hash % (unsigned)first_ways], FLOWPIN_PACKET, header, data);
    if (sequence % 256 == 0 && flowpin_program.stage_count > 1) promise_all();
    last = *header;
    if (flowpin_program.tick) {
      long now = header->ts.tv_sec * 1000000L + header->ts.tv_usec;
      if (now >= next_tick) {
        if (next_tick) give_all(FLOWPIN_TICK, &last);
        next_tick = now + flowpin_program.tick_us;
      }
    }
  }
  if (is_live) flowpin_account_capture(capture);
  if (outcome == PCAP_ERROR) fprintf(stderr, "flowpin: %s\n", pcap_geterr(capture));
  if (flowpin_program.tick) give_all(FLOWPIN_TICK, &last);
  give_all(FLOWPIN_END, &last);
}

/* Whether packets are to come: all workers wait for them, or have ended. */
static int wait_for_packets(void) {
  pthread_mutex_lock(&lock);
  for (;;) {
    int all = packets_count + finished_count == flowpin_ways;
    if (finished_count == flowpin_ways || (all && turn == flowpin_ways)) break;
    pthread_cond_wait(&changed, &lock);
  }
  int comes = finished_count < flowpin_ways;
  packets_round += comes;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  return comes;
}

/* What is to be said of one stage: `tcp=4` in FLOWPIN_WAYS, or a number for all that have none. */
static long wish_for(const struct flowpin_stage *stage) {
  const char *wish = getenv("FLOWPIN_WAYS");
  size_t length = strlen(stage->name);
  long general = 0;
  while (wish && *wish) {
    char *end;
    if (!strncmp(wish, stage->name, length) && wish[length] == '=')
      return strtol(wish + length + 1, 0, 10);
    if (strspn(wish, "0123456789") > 0) general = strtol(wish, &end, 10);
    wish = strchr(wish, ',');
    if (wish) wish++;
  }
  return stage->ways ? stage->ways : general;
}

static int ways(const struct flowpin_stage *stage) {
  const char *wish = getenv("FLOWPIN_WAYS");
  long count = flowpin_program.stage_count > 1 ? wish_for(stage)
               : wish                          ? strtol(wish, 0, 10)
                                               : flowpin_program.ways;
  if (!count && !wish) count = sysconf(_SC_NPROCESSORS_ONLN);
  if (count < 1 || count > WAYS_MAX) flowpin_die("FLOWPIN_WAYS is to be from 1 to 256");
  return (int)count;
}

static struct flowpin_ring *new_ring(int rings_of_stage) {
  unsigned long bytes = RING_BYTES;
  while (rings_of_stage > 4 && bytes > (1ul << 20)) bytes /= 2, rings_of_stage /= 2;
  struct flowpin_ring *ring = aligned_alloc(128, (sizeof *ring + 127) & ~127ul);
  if (!ring || flowpin_ring_make(ring, bytes)) flowpin_die("no memory for a ring");
  return ring;
}

/* Rings of one producer are a circle: before it waits at one, it shows what is in all. */
static void join(struct flowpin_ring *first, struct flowpin_ring *ring) {
  ring->sibling = first->sibling;
  first->sibling = ring;
}

static void add_input(struct flowpin_worker *worker, struct flowpin_ring *ring) {
  size_t size = (size_t)(worker->input_count + 1) * sizeof *worker->inputs;
  worker->inputs = realloc(worker->inputs, size);
  if (!worker->inputs) flowpin_die("no memory for a ring");
  worker->inputs[worker->input_count++] = ring;
}

/* Rings from the reader to the first stage, and from each stage to those that it hands on to. */
static void connect_stages(const int *counts, const int *starts) {
  for (int number = 0; number < counts[0]; number++) {
    add_input(&workers[number], new_ring(counts[0]));
    if (number) join(workers[0].inputs[0], workers[number].inputs[0]);
  }
  for (int to = 1; to < flowpin_program.stage_count; to++)
    for (int from = 0; from < to; from++) {
      if (!(flowpin_program.stages[to].from >> from & 1)) continue;
      for (int way = 0; way < counts[from]; way++) {
        struct flowpin_worker *worker = &workers[starts[from] + way], *target = &workers[starts[to]];
        struct flowpin_ring **rings = calloc((size_t)counts[to], sizeof *rings);
        if (!rings) flowpin_die("no memory for a ring");
        worker->outputs[to] = rings;
        for (int number = 0; number < counts[to]; number++, target++) {
          rings[number] = new_ring(counts[from] * counts[to]);
          add_input(target, rings[number]);
          for (int other = 1; other <= to; other++)
            if (worker->outputs[other] && worker->outputs[other][0] != rings[number]) {
              join(worker->outputs[other][0], rings[number]);
              break;
            }
        }
      }
    }
}

int flowpin_stage_ways[FLOWPIN_STAGES_MAX];

int main(int argc, char **argv) {
  int starts[FLOWPIN_STAGES_MAX] = {0};
  const char *divided = getenv("FLOWPIN_STAGES");
  int is_divided = flowpin_program.stage_count > 1 && !(divided && !strcmp(divided, "0"));
  for (int stage = 0; stage < flowpin_program.stage_count; stage++) {
    starts[stage] = flowpin_ways;
    flowpin_stage_ways[stage] = ways(&flowpin_program.stages[stage]);
    flowpin_ways += flowpin_stage_ways[stage];
  }
  first_ways = flowpin_stage_ways[0];
  if (flowpin_program.stage_count > 1 ? !is_divided : flowpin_ways == 1) {
    flowpin_account_alone();
    self = new_core();
    return flowpin_program.start(self, argc, argv);
  }
  if (flowpin_ways > WAYS_MAX) flowpin_die("all stages together may have 256 cores");
  if (flowpin_program.set_once) flowpin_program.set_once(0);
  workers = calloc((size_t)flowpin_ways, sizeof *workers);
  finished = calloc((size_t)flowpin_ways, sizeof *finished);
  if (!workers || !finished) flowpin_die("no memory for workers");
  for (int number = 0; number < flowpin_ways; number++) {
    struct flowpin_worker *worker = &workers[number];
    worker->number = number;
    for (int stage = 0; stage < flowpin_program.stage_count; stage++)
      if (number >= starts[stage]) worker->stage = stage;
    worker->way = number - starts[worker->stage];
    worker->argc = argc;
    worker->argv = copy_of(argc, argv);
  }
  connect_stages(flowpin_stage_ways, starts);
  sigset_t all;
  sigfillset(&all);
  sigdelset(&all, SIGSEGV);
  sigdelset(&all, SIGBUS);
  sigdelset(&all, SIGFPE);
  sigdelset(&all, SIGILL);
  pthread_sigmask(SIG_SETMASK, &all, &signals_of_program);
  for (int number = 0; number < flowpin_ways; number++)
    if (pthread_create(&workers[number].thread, 0, run_worker, &workers[number]))
      flowpin_die("cannot start a thread");
  while (wait_for_packets()) {
    pcap_t *capture = flowpin_source();
    if (!capture) flowpin_die("packets are asked for, but the first core has no capture open");
    dispatch(capture);
    pthread_mutex_lock(&lock);
    while (first_count > 0) pthread_cond_wait(&changed, &lock);
    opened = 0;
    pass_turn(0);
    pthread_mutex_unlock(&lock);
  }
  int code = 0;
  for (int number = 0; number < flowpin_ways; number++) {
    pthread_join(workers[number].thread, 0);
    if (workers[number].code && !code) code = workers[number].code;
  }
  if (flowpin_merge(workers, flowpin_ways)) code = code ? code : 1;
  flowpin_account_all(workers, flowpin_ways);
  return code;
}
