#include "ctl/report/site_report.hpp"

#include <algorithm>

namespace shapley::ctl {

bool Proof::clean() const {
  return signature != SignatureState::bad &&
         (!audit || std::ranges::all_of(audit->examinations, [](const Examination& e) { return e.report.clean(); }));
}

bool SiteReport::exact() const {
  return statement["exact"] == true && history["exact"] == true && months["exact"] == true;
}

}  // namespace shapley::ctl
