static int counter;
