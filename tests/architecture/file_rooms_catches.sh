#!/usr/bin/env bash
# Plants one way to open a file at a time in a small clean tree and expects file_rooms.sh to name it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/{common/base,daemon,ctl,exporter,plugin}
# What is allowed: in the room, as a comment, by the room's functions, and other functions of that name.
printf '%s\n' 'const int in = ::open(file.c_str(), O_RDONLY);' > "$tree/common/base/files.cpp"
printf '%s\n' '// std::ifstream in(file);' 'auto in = InputFile::open(file);' 'server.open();' \
  'SHAPLEY_TRY(Database::open(location, SQLITE_OPEN_READWRITE));' > "$tree/ctl/clean.cpp"
"$here/file_rooms.sh" "$tree" > /dev/null || { echo "a clean tree is refused"; exit 1; }

planted=0
for line in 'std::ifstream in(file);' 'std::ofstream(file) << text;' '#include <fstream>' 'std::fopen(name, "w");' \
  'FILE* file = fopen(path, "re");' 'const int out = ::open(file.c_str(), O_WRONLY | O_CREAT);' \
  'int descriptor = open(fresh, O_WRONLY);' '::openat(folder, name, O_RDONLY);'; do
  printf '\n%s\n' "$line" > "$tree/ctl/planted.cpp"
  if said=$("$here/file_rooms.sh" "$tree"); then
    echo "not caught: $line"
    exit 1
  fi
  [[ $said == "ctl/planted.cpp:2:"* ]] || { echo "caught, but not by name: $line"; echo "$said"; exit 1; }
  planted=$((planted + 1))
done
echo "file_rooms_catches: $planted ways to open a file were found"
