# Run by `cmake --install BUILD --component debug`: the debug information of each of shapley_installed into
# PREFIX/lib/debug/.build-id/, whose name is the file's build id, so that gdb finds it for a stripped program.
foreach(file IN LISTS shapley_installed)
  execute_process(COMMAND "${CMAKE_READELF}" -n "${file}" OUTPUT_VARIABLE notes COMMAND_ERROR_IS_FATAL ANY)
  if(NOT notes MATCHES "Build ID: ([0-9a-f][0-9a-f])([0-9a-f]+)")
    message(FATAL_ERROR "${file} has no build id: link it with -Wl,--build-id")
  endif()
  set(folder "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/lib/debug/.build-id/${CMAKE_MATCH_1}")
  set(target "${folder}/${CMAKE_MATCH_2}.debug")
  file(MAKE_DIRECTORY "${folder}")
  message(STATUS "Installing: ${target}")
  execute_process(COMMAND "${CMAKE_OBJCOPY}" --only-keep-debug --compress-debug-sections "${file}" "${target}" COMMAND_ERROR_IS_FATAL ANY)
  file(CHMOD "${target}" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endforeach()
