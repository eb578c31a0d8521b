/* A function for the end that is declared by its type's name. */
#include <stdlib.h>
typedef void ending(void);
static int state;
ending goodbye;
void goodbye(void) { state++; }
int main(void) { return atexit(goodbye); }
