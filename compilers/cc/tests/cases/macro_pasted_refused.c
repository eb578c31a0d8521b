/* refused: a macro makes up the name */
static int in_count, out_count;
#define COUNT(direction) (direction##_count++)
int main(void) { COUNT(in); COUNT(out); return in_count + out_count - 2; }
