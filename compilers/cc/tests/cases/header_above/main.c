/* A header above the sources' folder, named from where it stands: the output has it there, too. */
#include "../header_static/counter.h"

#include <stdio.h>

int main(void) {
  printf("%d\n", ++counter);
  return counter - 1;
}
