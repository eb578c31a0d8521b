/* refused: assembler names the private variable `count` */
static int count __attribute__((used));
int main(void) {
  __asm__ volatile("incl count(%%rip)" ::: "memory");
  return count++ - 1;
}
