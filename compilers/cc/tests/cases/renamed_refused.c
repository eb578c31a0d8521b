/* refused: the variable `count` has a second name */
#pragma redefine_extname also count
extern int also;
int count = 1;
int main(void) { return also++ - 1; }
