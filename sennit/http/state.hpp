#pragma once
// StateMap: what handlers share, found by its type. Server::provide() fills it, State<T> takes from
// it (arguments.hpp).
//
// Thread safety: get() any number of threads once the last set() has returned. It owns nothing.

#include <utility>
#include <vector>

namespace sennit::http {

class StateMap {
 public:
  /// `object` must outlive the map. A second one of a type takes the place of the first.
  template <class T>
  void set(T& object) {
    for (auto& [tag, pointer] : entries_) {
      if (tag == tag_of<T>()) {
        pointer = &object;
        return;
      }
    }
    entries_.emplace_back(tag_of<T>(), &object);
  }
  /// Null if there is none.
  template <class T>
  [[nodiscard]] T* get() const {
    for (const auto& [tag, pointer] : entries_) {
      if (tag == tag_of<T>()) return static_cast<T*>(pointer);
    }
    return nullptr;
  }

 private:
  template <class T>
  static const void* tag_of() {
    static const char tag = 0;
    return &tag;
  }
  std::vector<std::pair<const void*, void*>> entries_;
};

}  // namespace sennit::http
