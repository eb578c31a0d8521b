static int table[16];
void scan(int number);
void scan(int number) { table[number & 15]++; }
