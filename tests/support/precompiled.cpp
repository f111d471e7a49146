// The program whose precompiled headers every test shares (tests/CMakeLists.txt). It runs nothing.
int main() {
  return 0;
}
