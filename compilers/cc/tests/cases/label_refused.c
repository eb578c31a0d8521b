/* refused: the variable `count` has a second name */
int count __asm__("counted") = 1;
extern int also __asm__("counted");
int main(void) { return count++ - also; }
