#!/usr/bin/env bash
# `make help`
cat <<'TEXT'
Build
  all             neap and the collector (what `make` alone does)
  install         program, collector, libneap, headers, man pages, completions
  dist distcheck  source archive; the same, unpacked, built, tested and installed once

Check
  check           unit, golden and integration tests, lints
                  one test: make check TESTS=tests/unit/t_NAME
                  one case: tests/unit/t_NAME --filter 'suite/case'
  check-real      ten real programs against an independent counter, to the byte
  check-long      a program killed at 200 moments, and other tests that take minutes
  check-faults    every allocation and every call of neap fails once
  check-asan      unit and golden tests under AddressSanitizer and UBSan
  check-tui-long  100,000 random keys and more at the browser, likewise
  check-tsan      tests/stress under ThreadSanitizer
  check-valgrind  unit tests under valgrind
  lint            rules about the source, clang-tidy, cppcheck, shellcheck, man pages
  lint-tools      only the tools
  fuzz            the fuzzers for SECONDS=60 each (clang)
  bench           overhead beside native runs and heaptrack, as ratios

Change
  format          lay the source out with clang-format
  golden          write the expected outputs anew; read the diff before you commit it
TEXT
