/* Functions and variables that a macro renames, as flex and bison do for a prefix, and functions
 * whose declaration or body comes out of a macro. */
#include <stdio.h>

#define yylex config_lex
#define yylval config_lval
#define yyleng config_leng
#define STORE(value) yylval = (value), yyleng++, (void)hold++
#define DECLARE(name) static int name##_print(int value)
#define RETURN(what, value) { return (what) += (value); }

int yylex(void);
int yylval;
static int hold, yyleng;

DECLARE(one);
DECLARE(two);

int
yylex (void)
{
  STORE(7);
  return yylval;
}

static int one_print(int value) { return printf("%d %d\n", value, hold); }

DECLARE(two) { return one_print(value + yyleng); }

static int bump(int value) RETURN(hold, value)

int main(void) {
  int value = yylex();
  one_print(value);
  two_print(value);
  return bump(2) - 3;
}
