/* refused: is declared without parentheses */
typedef int operation(int);
static int state;
operation add;
int add(int n) { return state += n; }
int main(void) { return add(0); }
