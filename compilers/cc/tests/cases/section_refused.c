/* refused: which ties it to one place */
static int placed __attribute__((section("special"))) = 1;
int main(void) { return placed++ - 1; }
