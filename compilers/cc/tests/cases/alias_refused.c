/* refused: the variable `count` has a second name */
int count = 1;
extern int also __attribute__((alias("count")));
int main(void) { return count++ - also; }
