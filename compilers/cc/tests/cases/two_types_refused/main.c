/* refused: give it one type */
extern int value;
int main(void) { return value++; }
