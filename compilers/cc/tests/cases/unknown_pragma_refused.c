/* refused: the words are */
#pragma flowpin sharded count
static int count;
int main(void) { return count++; }
