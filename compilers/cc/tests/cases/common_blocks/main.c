/* flags: -fcommon
 * One variable, defined twice without a value (C89's common blocks). */
#include <stdio.h>
int shared_count;
int bump(void);
int main(void) {
  shared_count += 2;
  printf("%d\n", bump());
  return shared_count != 3;
}
