/* refused: has a type that only its function knows */
static int next(void) {
  struct pair { int a, b; };
  static struct pair pair;
  return ++pair.a;
}
int main(void) { return next() - 1; }
