#!/usr/bin/env bash
# Stands in for all unit tests where Criterion is not installed.
echo "SKIP: the unit tests need Criterion (Debian: libcriterion-dev; ./bootstrap deps installs it)"
exit 77
