#pragma once
// A doubly linked list through the elements themselves: linking allocates nothing, and an element
// can unlink itself in constant time without knowing its list.
//
//   struct Timer : ListHook<Timer> { ... };      IntrusiveList<Timer> timers;
//
// Thread safety: none. Ownership: none; an element must be unlinked before it dies (asserted), and
// a list must be empty before it does (asserted). An element is in at most one list per hook Tag.

#include <cstddef>

#include "sennit/base/assert.hpp"

namespace sennit {

template <class T, class Tag>
class IntrusiveList;

/// Derive from this to be linkable; a second hook of one type needs a Tag of its own.
template <class T, class Tag = void>
class ListHook {
 public:
  ListHook() = default;
  ListHook(const ListHook&) = delete;
  ListHook& operator=(const ListHook&) = delete;
  ~ListHook() { SENNIT_ASSERT(!is_linked()); }

  [[nodiscard]] bool is_linked() const { return next_ != nullptr; }

  /// Requires is_linked().
  void unlink() {
    SENNIT_ASSERT(is_linked());
    previous_->next_ = next_;
    next_->previous_ = previous_;
    next_ = previous_ = nullptr;
  }

 private:
  friend class IntrusiveList<T, Tag>;
  ListHook* next_ = nullptr;
  ListHook* previous_ = nullptr;
};

template <class T, class Tag = void>
class IntrusiveList {
  using Hook = ListHook<T, Tag>;

 public:
  IntrusiveList() { head_.next_ = head_.previous_ = &head_; }
  IntrusiveList(const IntrusiveList&) = delete;
  IntrusiveList& operator=(const IntrusiveList&) = delete;
  ~IntrusiveList() {
    SENNIT_ASSERT(empty());
    head_.next_ = head_.previous_ = nullptr;
  }

  [[nodiscard]] bool empty() const { return head_.next_ == &head_; }
  /// Requires !empty().
  [[nodiscard]] T& front() {
    SENNIT_ASSERT(!empty());
    return element(*head_.next_);
  }
  void push_front(T& item) { insert_before(*head_.next_, item); }
  void push_back(T& item) { insert_before(head_, item); }
  /// Requires !empty().
  T& pop_front() {
    T& first = front();
    static_cast<Hook&>(first).unlink();
    return first;
  }
  /// Takes all elements of `other`, in order, behind our own.
  void splice_back(IntrusiveList& other) {
    while (!other.empty()) push_back(other.pop_front());
  }
  /// Constant time for nothing: counts by walking.
  [[nodiscard]] std::size_t count() const {
    std::size_t total = 0;
    for (const Hook* hook = head_.next_; hook != &head_; hook = hook->next_) ++total;
    return total;
  }

  /// Forward iteration. The current element may be unlinked by the loop's body, no other may.
  class Iterator {
   public:
    explicit Iterator(Hook* at) : at_(at), next_(at->next_) {}
    T& operator*() const { return element(*at_); }
    Iterator& operator++() {
      at_ = next_;
      next_ = at_->next_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    Hook* at_;
    Hook* next_;
  };
  Iterator begin() { return Iterator(head_.next_); }
  Iterator end() { return Iterator(&head_); }

 private:
  static T& element(Hook& hook) { return static_cast<T&>(hook); }
  void insert_before(Hook& position, T& item) {
    Hook& hook = item;
    SENNIT_ASSERT(!hook.is_linked());
    hook.next_ = &position;
    hook.previous_ = position.previous_;
    position.previous_->next_ = &hook;
    position.previous_ = &hook;
  }

  Hook head_;  // Linked in a circle with the elements; itself no element.
};

}  // namespace sennit
