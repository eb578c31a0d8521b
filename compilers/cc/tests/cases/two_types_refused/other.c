char value;
char *where(void) { value = 1; return &value; }
