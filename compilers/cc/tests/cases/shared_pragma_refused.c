/* refused: cannot be one for all cores: main writes it */
#pragma flowpin shared count
static int count;
int main(void) { return count++; }
