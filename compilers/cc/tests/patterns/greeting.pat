greeting
hello.{0,8}world
