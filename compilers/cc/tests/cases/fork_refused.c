/* refused: fork leaves the other cores behind */
#include <unistd.h>

static int count;
int main(void) { return fork() + count++; }
