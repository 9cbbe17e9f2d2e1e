#include "sennit/runtime/detail/group.hpp"

#include "sennit/base/assert.hpp"

namespace sennit::runtime::detail {

Branch::Wake::Wake(Branch& b, Group& g, const Waiter& beside)
    : Waiter(beside,
             [](Job& job) {
               auto& self = static_cast<Wake&>(job);
               self.group.woken(self.branch);
             }),
      branch(b),
      group(g) {}

bool Group::start(Waiter& waiter, std::span<Branch> branches, std::size_t needed) {
  SENNIT_ASSERT(needed <= branches.size(), needed, branches.size());
  waiter_ = &waiter;
  branches_ = branches;
  needed_ = needed;
  running_ = ended_ = first_ = 0;
  is_cancelled_ = false;
  for (Branch& branch : branches_) branch.state_ = Branch::State::idle;
  for (Branch& branch : branches_) {
    if (ended_ >= needed_) break;
    if (!begin(branch)) {
      note_end(branch);
    } else if (is_cancelled_ && branch.kind_->cancel != nullptr) {
      branch.kind_->cancel(branch.awaitable_);  // By what the ones before us did.
    }
  }
  if (ended_ >= needed_) cancel_running();
  return running_ > 0;
}

// True if it runs.
bool Group::begin(Branch& branch) {
  if (branch.kind_->ready(branch.awaitable_)) return false;
  branch.wake_.emplace(branch, *this, *waiter_);
  if (!branch.kind_->start(branch.awaitable_, *branch.wake_)) return false;
  branch.state_ = Branch::State::running;
  ++running_;
  return true;
}

void Group::note_end(Branch& branch) {
  branch.state_ = Branch::State::ended;
  if (ended_++ == 0) first_ = static_cast<std::size_t>(&branch - branches_.data());
}

void Group::woken(Branch& branch) {
  --running_;
  note_end(branch);
  if (ended_ == needed_) cancel_running();
  if (running_ == 0) waiter_->hand_over();
}

void Group::cancel() {
  is_cancelled_ = true;
  cancel_running();
}

void Group::cancel_running() {
  for (Branch& branch : branches_) {
    if (branch.state_ == Branch::State::running && branch.kind_->cancel != nullptr) {
      branch.kind_->cancel(branch.awaitable_);
    }
  }
}

}  // namespace sennit::runtime::detail
