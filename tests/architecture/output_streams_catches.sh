#!/usr/bin/env bash
# Plants one way round the printable streams at a time in a small clean tree and expects output_streams.sh to name it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
planted=0
mkdir -p "$tree"/{common/base,daemon,ctl,exporter,lab/sim}

clean_tree() {
  find "$tree" -type f -delete
  for program in daemon ctl exporter lab/sim; do
    printf '%s\n' 'int main() {' '  const shapley::PrintableStream out(std::cout);' \
      '  const shapley::PrintableStream err(std::cerr);' > "$tree/$program/main.cpp"
  done
  printf '%s\n' '// printf("what a comment says")' 'std::snprintf(text.data(), text.size(), "%d", n);' \
    '#include <spdlog/sinks/stdout_sinks.h>' 'auto n = ::write(descriptor, data, size);' > "$tree/common/base/clean.cpp"
}

expect_caught() {  # what is said first, after a clean tree was spoilt
  local said
  if said=$("$here/output_streams.sh" "$tree"); then
    echo "not caught: $1"
    exit 1
  fi
  if [[ $said != "$1"* || $(grep -c . <<< "$said") != 1 ]]; then
    echo "caught, but not by name: $1"
    echo "$said"
    exit 1
  fi
  planted=$((planted + 1))
}

for line in 'fmt::print("{}", name);' 'std::printf("%s", name);' 'fprintf(file, "%s", name);' 'std::puts(name);' \
  'std::fwrite(name, 1, n, out);' 'perror(name);' 'std::clog << name;' 'log_to(stderr);' '::write(STDOUT_FILENO, name, n);' \
  '::write(2, name, n);'; do
  clean_tree
  printf '\n%s\n' "$line" > "$tree/ctl/planted.cpp"
  expect_caught "ctl/planted.cpp:2:"
done
for program in daemon ctl exporter lab/sim; do
  for stream in cout cerr; do
    clean_tree
    sed -i "/std::$stream/d" "$tree/$program/main.cpp"
    expect_caught "$program/main.cpp: no PrintableStream of std::$stream"
  done
done

clean_tree
"$here/output_streams.sh" "$tree" > /dev/null || { echo "a clean tree does not pass:"; "$here/output_streams.sh" "$tree" || exit 1; }
echo "output_streams_catches: $planted ways round the streams caught by name, a clean tree passes"
