/* Prints the run-time's hash of each frame that comes as its link type, its length and its bytes. */
#include "flowpin_run.h"

#include <stdio.h>

int main(void) {
  unsigned head[2];
  unsigned char frame[256];
  while (fread(head, sizeof head, 1, stdin) == 1) {
    if (head[1] && fread(frame, head[1], 1, stdin) != 1) return 1;
    printf("%u %u\n", flowpin_hash(FLOWPIN_IP_PAIR, (int)head[0], frame, head[1]),
           flowpin_hash(FLOWPIN_FOUR_TUPLE, (int)head[0], frame, head[1]));
  }
  return 0;
}
