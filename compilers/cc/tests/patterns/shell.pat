# A line at the beginning.
remote-shell
^ssh-[12]\.[0-9]
