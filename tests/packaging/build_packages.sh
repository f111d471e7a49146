#!/usr/bin/env bash
# Debian's packages are built with what ./dev build installs: packaging/debian/control and the group `build` of packaging/debian-packages.txt.
# Usage: build_packages.sh SOURCE_DIR
set -euo pipefail
cd "$1/packaging"
# A builder of packages has the compiler and dpkg-dev, and debhelper is its own affair.
listed=$(awk '$1 == "build" { print $2 }' debian-packages.txt | grep -vxE 'build-essential|dpkg-dev' | sort)
asked=$(awk '/^Build-Depends:/ { list = 1; next } /^[^ ]/ { list = 0 } list { sub(/ \(.*/, ""); gsub(/[ ,]/, ""); print }' debian/control |
  grep -vE '^(debhelper|dh-sequence)-' | sort)
[[ $(wc -w <<<"$asked") -gt 10 ]] || { echo "build_packages: no Build-Depends found in packaging/debian/control"; exit 1; }
diff <(echo "$listed") <(echo "$asked") ||
  { echo "build_packages: '<' is in packaging/debian-packages.txt only, '>' in packaging/debian/control only"; exit 1; }
echo "build_packages: $(wc -w <<<"$asked") packages, the same in both"
