/* refused: pthread_create starts a thread that would belong to no core */
#include <pthread.h>

static int count;
static void *work(void *data) { count++; return data; }

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  pthread_join(thread, 0);
  return count != 1;
}
