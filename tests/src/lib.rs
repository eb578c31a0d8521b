//! Nothing: the tests beside this folder are the point of the package.
