/* refused: what calls it knows no core */
static int count;
__attribute__((constructor)) static void before_main(void) { count = 1; }
int main(void) { return count++ - 1; }
