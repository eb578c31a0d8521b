int shared_count;
int bump(void) { return ++shared_count; }
