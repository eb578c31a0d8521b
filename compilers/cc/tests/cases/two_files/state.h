#ifndef STATE_H
#define STATE_H
struct state { int count; int numbers[2]; struct hidden *hidden; };
extern struct state state;
void bump(void);
static inline int inline_one(void) { return ++state.numbers[0]; }
#endif
