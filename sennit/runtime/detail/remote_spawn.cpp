#include "sennit/runtime/detail/remote_spawn.hpp"

namespace sennit::runtime::detail {

RemoteSpawn::RemoteSpawn(SpawnOwner& scope, Worker& home, Worker& worker, Inheritance inheritance)
    : scope_(scope),
      home_(home),
      worker_(worker),
      self_(this),
      inheritance_(std::move(inheritance)),
      there_(
          [](Job& job) {
            RemoteSpawn& self = static_cast<Post&>(job).spawn;
            self.child_ = &self.start_child(self, self.worker_, std::move(self.inheritance_));
          },
          *this),
      back_(
          [](Job& job) {
            RemoteSpawn& self = static_cast<Post&>(job).spawn;
            const std::shared_ptr<RemoteSpawn> until_told = std::move(self.self_);
            self.unlink();
            self.scope_.child_ended(std::move(self.failure_));
          },
          *this) {}

void RemoteSpawn::post() { worker_.post(there_); }

void RemoteSpawn::cancel(EndReason reason) {
  worker_.post([self = self_, reason] {
    if (self->child_ != nullptr) self->child_->work.cancel(reason);
  });
}

void RemoteSpawn::child_ended(std::unique_ptr<Failure> failure) {
  child_ = nullptr;
  failure_ = std::move(failure);
  home_.post(back_);
}

}  // namespace sennit::runtime::detail
