#!/bin/sh
# usage: no_llvm.sh LIBRARY
# The runtime serves machines without LLVM: no object of it may name one of its symbols.
symbols=$(nm -C "$1") || exit 1
[ -n "$symbols" ] || { echo "$1 has no symbols at all"; exit 1; }
if printf '%s\n' "$symbols" | grep -iE 'llvm|mlir'; then
  echo "$1 refers to LLVM"
  exit 1
fi
