mail
^220[\x09-\x0d -~]*mail|ehlo [a-z]
