/* refused: `step`, which uses private state, has a second name */
static int count = 1;
int step(void) { return count++; }
int leap(void) __attribute__((alias("step")));
int main(void) { return leap() - 1; }
