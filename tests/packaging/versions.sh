#!/usr/bin/env bash
# CMakeLists.txt says the version; packages and programs say the same.
# Usage: versions.sh SOURCE_DIR PROGRAM...
set -euo pipefail
source=$1
shift
version=$("$source/packaging/tools/version")
bad=0
says() { [[ $2 == "$version" ]] || { echo "$1: '$2', but CMakeLists.txt has $version"; bad=1; }; }
says packaging/debian/changelog "$(sed -n '1s/^slurm-shapley (\(.*\)-[0-9]*) .*/\1/p' "$source/packaging/debian/changelog")"
says "CHANGELOG.md, its newest version" "$(sed -n 's/^## \[\([0-9.]*\)\] - [0-9-]*$/\1/p' "$source/CHANGELOG.md" | head -n 1)"
says packaging/rpm/slurm-shapley.spec "$(sed -n 's/^Version: *//p' "$source/packaging/rpm/slurm-shapley.spec")"
says "packaging/rpm/slurm-shapley.spec, %changelog" "$(sed -n '/^%changelog/{n;s/.* - \(.*\)-[0-9]*$/\1/p}' "$source/packaging/rpm/slurm-shapley.spec")"
for program in "$@"; do says "$program --version" "$("$program" --version | sed "s/^${program##*/} //")"; done
[[ $bad == 0 ]] && echo "versions: everything says $version"
exit "$bad"
