# shapley_manual(PROGRAM SECTION): makes PROGRAM.SECTION of the program's --help and of man/PROGRAM.SECTION.in, which has the sections that help
# does not have, and installs it. REQUIRES: GNUInstallDirs.
include_guard(GLOBAL)
find_program(SHAPLEY_HELP2MAN help2man REQUIRED)

function(shapley_manual program section)
  set(page ${program}.${section})
  set(manual "${SHAPLEY_ROOT}/packaging/man/manual")
  add_custom_command(OUTPUT ${page}
                     COMMAND "${manual}" $<TARGET_FILE:${program}> "${CMAKE_CURRENT_SOURCE_DIR}/man/${page}.in" ${page}
                     DEPENDS ${program} "${manual}" man/${page}.in VERBATIM)
  add_custom_target(manual_of_${program} ALL DEPENDS ${page})
  add_dependencies(programs manual_of_${program})
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${page}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man${section}")
endfunction()
