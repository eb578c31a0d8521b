/* refused: atexit may call `goodbye`, which uses private state, where no core is known */
#include <stdlib.h>
typedef void ending(void);
static int state;
ending goodbye;
void goodbye(void) { state++; }
int main(void) { return atexit(goodbye); }
