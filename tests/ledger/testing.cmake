# What tests of the ledger and of its readers make ledgers with; the laboratory's tests use it, too, when the laboratory is built alone.
add_library(ledger_testing STATIC "${CMAKE_CURRENT_LIST_DIR}/archived_months.cpp" "${CMAKE_CURRENT_LIST_DIR}/random_events.cpp" "${CMAKE_CURRENT_LIST_DIR}/ledger_fixture.cpp")
find_package(SQLite3 REQUIRED)
target_link_libraries(ledger_testing
  PUBLIC shapley_options shapley::ledger rapidcheck GTest::gtest
  PRIVATE shapley_warnings SQLite::SQLite3)
shapley_precompiled(ledger_testing)
