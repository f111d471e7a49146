#include "remote/munge.hpp"

#include <cstdlib>
#include <memory>

#include <munge.h>

namespace shapley::remote {

namespace {

struct Destroy {
  void operator()(munge_ctx_t context) const { munge_ctx_destroy(context); }
};
using Context = std::unique_ptr<munge_ctx, Destroy>;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

constexpr int k_lifetime_s = 60;

Expected<Context> make_context(const std::filesystem::path& socket) {
  Context context(munge_ctx_create());
  if (!context) return fail(Errc::unavailable, "munge: out of memory");
  auto error = munge_ctx_set(context.get(), MUNGE_OPT_TTL, k_lifetime_s);
  if (error == EMUNGE_SUCCESS && !socket.empty()) {
    error = munge_ctx_set(context.get(), MUNGE_OPT_SOCKET, socket.c_str());
  }
  if (error != EMUNGE_SUCCESS) return fail(Errc::unavailable, std::string("munge: ") + munge_strerror(error));
  return context;
}

// What is behind an error of a credential that another host made; empty: nothing more is known.
std::string_view cause_of(munge_err_t error) {
  switch (error) {
    case EMUNGE_CRED_INVALID:
      return "; the other host's munge has another key";
    case EMUNGE_CRED_EXPIRED:
      return "; it was long on its way, or the clock here is ahead of the other host's";
    case EMUNGE_CRED_REWOUND:
      return "; the clock here is behind the other host's";
    default:
      return "";
  }
}

// With the context's own words, which name the socket.
tl::unexpected<Error> failure(const Context& context, munge_err_t error) {
  const char* detail = munge_ctx_strerror(context.get());
  const bool away = error == EMUNGE_SOCKET || error == EMUNGE_TIMEOUT || error == EMUNGE_SNAFU;
  return fail(
      away ? Errc::unavailable : Errc::denied,
      std::string("munge: ").append(detail != nullptr ? detail : munge_strerror(error)).append(cause_of(error)));
}

}  // namespace

Expected<std::string> Munge::seal(std::string_view text, uid_t reader) const {
  // To munge this number means every user.
  if (reader == static_cast<uid_t>(MUNGE_UID_ANY))
    return fail(Errc::invalid_argument, "munge: this number is not a user's: munge means every user by it");
  SHAPLEY_TRY_ASSIGN(const Context context, make_context(socket_));
  char* made = nullptr;
  auto error = munge_ctx_set(context.get(), MUNGE_OPT_UID_RESTRICTION, reader);
  if (error != EMUNGE_SUCCESS) return failure(context, error);
  error = munge_encode(&made, context.get(), text.data(), static_cast<int>(text.size()));
  const std::unique_ptr<char, Free> credential(made);
  if (error != EMUNGE_SUCCESS) return failure(context, error);
  return std::string(credential.get());
}

Expected<Munge::Opened> Munge::open(const std::string& credential) const {
  SHAPLEY_TRY_ASSIGN(const Context context, make_context(socket_));
  void* made = nullptr;
  int size = 0;
  uid_t uid = 0;
  gid_t gid = 0;
  const auto error = munge_decode(credential.c_str(), context.get(), &made, &size, &uid, &gid);
  const std::unique_ptr<void, Free> text(made);  // there also for one that is too old or was opened before
  if (error != EMUNGE_SUCCESS) return failure(context, error);
  return Opened{.text = std::string(static_cast<const char*>(text.get()), static_cast<std::size_t>(size)), .uid = uid};
}

}  // namespace shapley::remote
