/* refused: no `#pragma flowpin once` says where the result is used */
#pragma flowpin reduce(+: count)
static int count;
int main(void) { return count++; }
