/* One macro for the statics of two functions, also inside another macro. */
static int *first(void);
static int *second(void);
#define RETURN(value) do { ret = (value); return &ret; } while (0)
#define RETURN_SUM(a, rest...) RETURN(a + rest)
static int *first(void) { static int ret; RETURN(1); }
static int *second(void) { static int ret; RETURN_SUM(1, (1)); }
int main(void) { return *first() + *second() - 3; }
