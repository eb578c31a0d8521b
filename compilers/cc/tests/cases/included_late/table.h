static const char *table[] = {"a", "b", "c"};
