static unsigned long time_now = 40;
static void tick(int by) { time_now += by; }
unsigned long other(void) {
  tick(2);
  return time_now;
}
