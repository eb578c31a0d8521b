web
^(get|post|head) [\x21-\x7e]+ http/[01]\.[019]
