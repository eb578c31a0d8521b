counted
^x{3}a{0,2}b{1,}c$
