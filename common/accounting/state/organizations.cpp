#include "accounting/state/organizations.hpp"

#include <utility>

#include "accounting/events/event.hpp"

namespace shapley::accounting {

Organizations::Organizations() {
  join(k_guests);
  join(k_commons);
}

OrgId Organizations::join(std::string_view name) {
  if (const auto id = find(name)) return *id;
  const OrgId id{static_cast<std::uint32_t>(names_.size())};
  names_.emplace_back(name);
  ids_.emplace(name, id);
  return id;
}

std::optional<OrgId> Organizations::find(std::string_view name) const {
  const auto it = ids_.find(name);
  if (it == ids_.end()) return std::nullopt;
  return it->second;
}

std::vector<OrgId> Organizations::by_name() const {
  std::vector<OrgId> order;
  for (const auto& [name, id] : ids_) order.push_back(id);
  return order;
}

const std::vector<std::string>* Organizations::declared_at(Instant at) const {
  const auto it = declarations_.find(at);
  return it == declarations_.end() ? nullptr : &it->second;
}

void Organizations::declare(Instant at, std::vector<std::string> names) {
  for (const std::string& name : names) join(name);
  declarations_[at] = std::move(names);
}

std::vector<OrgId> Organizations::configured_order() const {
  std::vector<OrgId> order;
  std::vector<bool> placed(names_.size());
  const auto place = [&](std::string_view name) {
    const OrgId id = *find(name);
    if (placed[id.value]) return;
    placed[id.value] = true;
    order.push_back(id);
  };
  placed[find(k_guests)->value] = placed[find(k_commons)->value] = true;
  for (auto it = declarations_.rbegin(); it != declarations_.rend(); ++it) {
    for (const std::string& name : it->second) place(name);
  }
  for (const auto& [name, id] : ids_) place(name);
  order.push_back(*find(k_guests));
  order.push_back(*find(k_commons));
  return order;
}

}  // namespace shapley::accounting
