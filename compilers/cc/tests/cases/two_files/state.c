#include "state.h"

#include <string.h>

struct hidden { int depth; };
struct hidden hidden = {2};
struct state state = {.numbers = {1, 2}, .hidden = &hidden};
char text[12] = "abc";

void bump(void) {
  extern int late_in_main;
  state.count++;
  state.hidden->depth++;
  hidden.depth += inline_one();
  strcat(text, "d");
  late_in_main++;
}
