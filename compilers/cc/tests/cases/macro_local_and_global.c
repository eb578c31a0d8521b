/* A macro that names a private variable in one use and a local one in another. */
static int count;
#define BUMP() (count++)
static void global_one(void) { BUMP(); }
static int local_one(void) { int count = 0; BUMP(); return count; }
int main(void) { global_one(); return local_one() - 1; }
