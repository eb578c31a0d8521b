/* Memory of each core's own, in size classes, for `--alloc pool`.
 *
 * A core takes and gives back without a lock. What another core gives back goes to a list of the
 * owner's, which the owner empties when a class has nothing left. All memory is in one reserved
 * range, so that what a library has allocated is told apart, and goes back to the C library. */
#define _GNU_SOURCE
#include "flowpin_core.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void *flowpin_malloc(size_t size);
void *flowpin_calloc(size_t count, size_t size);
void *flowpin_realloc(void *memory, size_t size);
void flowpin_free(void *memory);
char *flowpin_strdup(const char *text);
void flowpin_reserve(size_t size, size_t count);

#define RANGE (1ul << 36)  /* reserved, not used: 64 GiB */
#define CHUNK (1ul << 20)  /* what a core takes of it at a time */
#define CLASSES 52
#define LARGEST 262144ul   /* larger ones are the C library's */

/* Before each block. */
struct head {
  _Alignas(16) struct pool *owner;
  unsigned class;
};

struct block {
  struct block *next;
};

struct pool {
  struct block *free[CLASSES];
  char *at, *end;                    /* of the chunk that is being cut up */
  _Alignas(128) _Atomic(struct block *) given_back; /* by other cores */
};

static char *range;
static _Atomic unsigned long used;
static _Thread_local struct pool *own;

/* Before any thread. */
__attribute__((constructor)) static void reserve(void) {
  void *all = mmap(0, RANGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  range = all == MAP_FAILED ? 0 : all;
}

/* Four classes to each power of two: 16, 32, 48, 64, 80, 96, 112, 128, 160, … */
static unsigned class_of(size_t size) {
  if (size <= 64) return size ? (unsigned)((size + 15) / 16 - 1) : 0;
  unsigned power = 63 - (unsigned)__builtin_clzl(size - 1); /* 2^power < size <= 2^(power+1) */
  return 4 + (power - 6) * 4 + (unsigned)((size - 1 - (1ul << power)) >> (power - 2));
}

static size_t size_of(unsigned class) {
  if (class < 4) return (class + 1) * 16ul;
  unsigned power = 6 + (class - 4) / 4;
  return (1ul << power) + ((class - 4) % 4 + 1) * (1ul << (power - 2));
}

static int is_ours(const void *memory) {
  return range && (const char *)memory >= range && (const char *)memory < range + RANGE;
}

static struct head *head_of(void *memory) { return (struct head *)memory - 1; }

static char *chunk(void) {
  unsigned long at = atomic_fetch_add(&used, CHUNK);
  if (!range || at + CHUNK > RANGE || mprotect(range + at, CHUNK, PROT_READ | PROT_WRITE)) return 0;
  return range + at;
}

static struct pool *pool(void) {
  if (own) return own;
  if (!range || !(own = aligned_alloc(128, (sizeof *own + 127) & ~127ul))) return 0;
  memset(own, 0, sizeof *own);
  return own;
}

static void put(struct pool *pool, void *memory) {
  struct block *block = memory;
  unsigned class = head_of(memory)->class;
  block->next = pool->free[class];
  pool->free[class] = block;
}

static void *cut(struct pool *pool, unsigned class) {
  size_t need = sizeof(struct head) + size_of(class);
  if ((size_t)(pool->end - pool->at) < need) {
    if (!(pool->at = chunk())) return pool->end = 0;
    pool->end = pool->at + CHUNK;
  }
  struct head *head = (void *)pool->at;
  pool->at += need;
  head->owner = pool;
  head->class = class;
  return head + 1;
}

void *flowpin_malloc(size_t size) {
  struct pool *mine = size > LARGEST ? 0 : pool();
  if (!mine) return malloc(size);
  unsigned class = class_of(size);
  if (!mine->free[class] && atomic_load_explicit(&mine->given_back, memory_order_relaxed)) {
    struct block *block = atomic_exchange_explicit(&mine->given_back, 0, memory_order_acquire);
    while (block) {
      struct block *next = block->next;
      put(mine, block);
      block = next;
    }
  }
  struct block *block = mine->free[class];
  if (!block) {
    void *fresh = cut(mine, class);
    return fresh ? fresh : malloc(size);
  }
  mine->free[class] = block->next;
  return block;
}

void flowpin_reserve(size_t size, size_t count) {
  struct pool *mine = size > LARGEST ? 0 : pool();
  unsigned class = mine ? class_of(size) : 0;
  for (void *fresh; mine && count > 0 && (fresh = cut(mine, class)); count--) put(mine, fresh);
}

void *flowpin_calloc(size_t count, size_t size) {
  if (size && count > SIZE_MAX / size) return 0;
  if (count * size > LARGEST) return calloc(count, size);
  void *memory = flowpin_malloc(count * size);
  if (memory) memset(memory, 0, count * size);
  return memory;
}

void flowpin_free(void *memory) {
  if (!is_ours(memory)) {
    free(memory);
    return;
  }
  struct pool *owner = head_of(memory)->owner;
  if (owner == own) {
    put(owner, memory);
    return;
  }
  struct block *block = memory;
  block->next = atomic_load_explicit(&owner->given_back, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(&owner->given_back, &block->next, block,
                                                memory_order_release, memory_order_relaxed)) {
  }
}

void *flowpin_realloc(void *memory, size_t size) {
  if (!memory) return flowpin_malloc(size);
  if (!is_ours(memory)) return realloc(memory, size);
  if (size == 0) {
    flowpin_free(memory);
    return 0;
  }
  size_t old = size_of(head_of(memory)->class);
  if (size <= old && size > old / 2) return memory;
  void *grown = flowpin_malloc(size);
  if (!grown) return 0;
  memcpy(grown, memory, old < size ? old : size);
  flowpin_free(memory);
  return grown;
}

char *flowpin_strdup(const char *text) {
  size_t size = strlen(text) + 1;
  char *copy = flowpin_malloc(size);
  return copy ? memcpy(copy, text, size) : 0;
}
