#include "counter.h"
int other(void) { return ++counter; }
