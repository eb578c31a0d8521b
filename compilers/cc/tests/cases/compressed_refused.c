/* refused: gzopen opens a file of which no core would have a part: open it with fopen or open */
#include <stdio.h>
void *gzopen(const char *path, const char *mode);
static void *out;
int main(int argc, char **argv)
{
  void *in = gzopen(argv[argc - 1], "rb");
  out = gzopen("out.gz", "w");
  return in == out;
}
