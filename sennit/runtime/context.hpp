#pragma once
// Context: what an activity hands down to everything it spawns: a trace id and values of the user.
//
//   inline constexpr ContextKey<std::string> tenant{"tenant"};
//   Activity::here().context().set(tenant, "blue");
//   if (const std::string* name = Activity::here().context().find(tenant)) ...
//
// (Its deadline and whether it was cancelled are handed down as well, see activity.hpp.) What is
// set later is seen by what is spawned later; what a child sets, its parent does not see.
//
// Thread safety: none for a Context; the values are shared by all who inherited them, on any
// worker, and never change. Meant for a handful: finding one looks through all.

#include <cstdint>
#include <memory>
#include <utility>

namespace sennit::runtime {

/// As the W3C's trace context has it: 16 bytes, zero is none.
struct TraceId {
  std::uint64_t high = 0, low = 0;
  explicit operator bool() const { return (high | low) != 0; }
  bool operator==(const TraceId&) const = default;
};

/// Names a value; two keys are different even if they are named alike. A static object.
template <class T>
struct ContextKey {
  const char* name;
};

class Context {
 public:
  TraceId trace;

  /// Hides what was set with the key before.
  template <class T, class U>
  void set(const ContextKey<T>& key, U&& value) {
    values_ = std::make_shared<Value<T>>(&key, std::move(values_), T(std::forward<U>(value)));
  }
  /// Null if nobody set it. Valid while this context, or one that inherited the value, lives.
  template <class T>
  [[nodiscard]] const T* find(const ContextKey<T>& key) const {
    for (const Node* node = values_.get(); node != nullptr; node = node->next.get()) {
      if (node->key == &key) return &static_cast<const Value<T>*>(node)->value;
    }
    return nullptr;
  }

 private:
  struct Node {
    Node(const void* k, std::shared_ptr<const Node> n) : key(k), next(std::move(n)) {}
    const void* key;
    std::shared_ptr<const Node> next;
  };
  template <class T>
  struct Value : Node {
    Value(const void* k, std::shared_ptr<const Node> n, T v)
        : Node(k, std::move(n)), value(std::move(v)) {}
    T value;
  };
  std::shared_ptr<const Node> values_;
};

}  // namespace sennit::runtime

namespace sennit {
using runtime::Context;
using runtime::ContextKey;
using runtime::TraceId;
}  // namespace sennit
