#include "plugin/client/descriptor.hpp"

#include <cerrno>
#include <system_error>

namespace shapley::client {

tl::unexpected<Error> system_failure(std::string_view operation, std::string_view object, int error) {
  const Errc code = error == EACCES || error == EPERM ? Errc::denied : Errc::io;
  // std::generic_category, because strerror is not safe among slurmctld's threads.
  return fail(code, std::string(operation) + " " + std::string(object) + ": " + std::generic_category().message(error));
}

}  // namespace shapley::client
