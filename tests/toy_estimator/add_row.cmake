# Writes the table of estimators with the toy's row in it: cmake -DINPUT=table.cpp -DOUTPUT=table.cpp -P add_row.cmake
file(READ "${INPUT}" text)
function(insert before line)
  string(FIND "${text}" "${before}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "toy estimator: ${INPUT} has no '${before}' any more, before which '${line}' belongs")
  endif()
  string(REPLACE "${before}" "${line}${before}" text "${text}")
  set(text "${text}" PARENT_SCOPE)
endfunction()

insert("#include \"accounting/estimators/shapley_rate.hpp\"\n" "#include \"equal_split.hpp\"\n")
insert("};\n\nstatic_assert(" "    {\"equal_split\", \"equal\", \"an equal part of all that ran\", make_equal_split, {}, 34},\n")
file(WRITE "${OUTPUT}" "${text}")
