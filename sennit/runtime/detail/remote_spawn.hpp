#pragma once
// RemoteSpawn: something that a Scope of one worker has started on another.
//
// 1. The home worker makes it, links it to the scope and posts it to the other, which makes the
//    child and runs it as a scope of its own would.
// 2. To cancel, the home worker posts a request. Posts arrive in order, so the child exists by
//    then, unless it has ended.
// 3. When the child has ended it is posted home, where the scope is told.
// It lives until the last post has run. No lock, and no word that both touch.

#include <memory>
#include <optional>
#include <utility>

#include "sennit/runtime/detail/spawned.hpp"

namespace sennit::runtime::detail {

class RemoteSpawn : public ListHook<RemoteSpawn>, protected SpawnOwner {
 public:
  RemoteSpawn(SpawnOwner& scope, Worker& home, Worker& worker, Inheritance inheritance);
  virtual ~RemoteSpawn() = default;

  // --- On the home worker -----------------------------------------------------------------
  void post();
  void cancel(EndReason reason);

 protected:
  /// On the other worker: makes and schedules it.
  virtual Spawned& start_child(SpawnOwner& owner, Worker& worker, Inheritance&& inheritance) = 0;

 private:
  void child_ended(std::unique_ptr<Failure> failure) override;
  struct Post : Job {
    Post(Run run, RemoteSpawn& s) : Job(run), spawn(s) {}
    RemoteSpawn& spawn;
  };

  SpawnOwner& scope_;
  Worker& home_;
  Worker& worker_;
  std::shared_ptr<RemoteSpawn> self_;  // Until it is back home.
  // Written by either worker, handed over by a post.
  Inheritance inheritance_;
  Spawned* child_ = nullptr;
  std::unique_ptr<Failure> failure_;
  Post there_;
  Post back_;
};

template <class F, class Sink>
class RemoteSpawnOf final : public RemoteSpawn {
 public:
  RemoteSpawnOf(SpawnOwner& scope, Worker& home, Worker& worker, F function, Sink sink,
                Inheritance inheritance)
      : RemoteSpawn(scope, home, worker, std::move(inheritance)),
        function_(std::move(function)),
        sink_(std::move(sink)) {}

 private:
  Spawned& start_child(SpawnOwner& owner, Worker& worker, Inheritance&& inheritance) override {
    auto& child = *new SpawnedOf<F, Sink>(owner, worker, *std::move(function_), std::move(sink_));
    function_.reset();
    child.work.begin(std::move(inheritance), ActivityState::created);
    worker.schedule(child);
    return child;
  }

  std::optional<F> function_;
  Sink sink_;
};

}  // namespace sennit::runtime::detail
