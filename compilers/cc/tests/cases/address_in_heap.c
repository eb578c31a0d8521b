/* The address of a private variable in memory of the heap: it stays on its core. */
#include <stdio.h>
#include <stdlib.h>

struct node { int *counter; struct node *next; };
static int total;
static struct node *head;

static void add(void) {
  struct node *node = malloc(sizeof *node);
  node->counter = &total;
  node->next = head;
  head = node;
}

int main(void) {
  add();
  add();
  for (struct node *node = head; node; node = node->next) ++*node->counter;
  printf("%d\n", total);
  return total != 2;
}
