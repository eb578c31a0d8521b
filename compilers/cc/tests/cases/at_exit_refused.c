/* refused: on_exit is not known to the run-time: atexit is */
#define _GNU_SOURCE
#include <stdlib.h>
static int ended;
static void end(int code, void *user) { ended += code + (user != 0); }
int main(void) { return on_exit(end, 0); }
