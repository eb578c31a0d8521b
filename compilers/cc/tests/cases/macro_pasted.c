/* A macro pastes the names of private variables together. */
#include <stdio.h>

static int in_count, out_count;
#define COUNT(direction) (direction##_count++)
#define NAME(x) #x
int main(void) { COUNT(in); COUNT(out); puts(NAME(in)); return in_count + out_count - 2; }
