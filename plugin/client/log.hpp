// The destination of the client's log lines, printable: the C function in the options, which any thread may call.
#pragma once

#include <string>

#include "base/printable.hpp"
#include "plugin/client/shapley_client.h"

namespace shapley::client {

class Log {
 public:
  using Sink = void (*)(enum shapley_log_level, const char*);

  explicit Log(Sink sink) : sink_(sink) {}
  void error(const std::string& text) const { write(SHAPLEY_LOG_ERROR, text); }
  void info(const std::string& text) const { write(SHAPLEY_LOG_INFO, text); }
  void debug(const std::string& text) const { write(SHAPLEY_LOG_DEBUG, text); }

 private:
  void write(enum shapley_log_level level, const std::string& text) const {
    if (sink_ != nullptr) sink_(level, printable(text).c_str());
  }
  Sink sink_;
};

}  // namespace shapley::client
