// Calls on files: each runs on a thread of the blocking pool, and is completed in the next poll().

#include <cerrno>
#include <memory>
#include <utility>

#include "sennit/runtime/blocking_pool.hpp"
#include "sennit/runtime/io/detail/epoll.hpp"
#include "sennit/runtime/io/detail/file_call.hpp"

namespace sennit::runtime::io {

struct EpollBackend::FileJob : PoolJob {
  FileJob(EpollBackend& b, FileOperation& o)
      : PoolJob([](PoolJob& job) noexcept {
          auto& self = static_cast<FileJob&>(job);
          self.result = detail::call_file(self.operation);
          self.backend.file_done(self);
        }),
        backend(b),
        operation(o) {}
  EpollBackend& backend;
  FileOperation& operation;
  int result = 0;
};

EpollBackend::EpollBackend(const BackendOptions& options) : options_(options) {}

BlockingPool& EpollBackend::pool() {
  if (options_.blocking_pool != nullptr) return *options_.blocking_pool;
  if (own_pool_ == nullptr) own_pool_ = std::make_unique<BlockingPool>();
  return *own_pool_;
}

void EpollBackend::file(FileOperation& operation) {
  SENNIT_ASSERT(!operation.in_flight());
  auto job = std::make_unique<FileJob>(*this, operation);
  operation.kind_ = Operation::Kind::file;
  operation.cancelled_ = false;
  operation.job_ = job.get();
  ++files_in_flight_;
  FileJob& started = *job.release();  // deliver_files() deletes it.
  if (pool().submit(started)) return;
  started.result = -EAGAIN;
  file_done(started);
}

void EpollBackend::file_done(FileJob& job) {
  {
    const std::lock_guard lock(files_mutex_);
    files_done_.push_back(&job);
    // While we hold the mutex: the worker may complete it, and the backend die, right after.
    wake();
  }
}

void EpollBackend::cancel_file(Operation& operation) {
  auto& job = *static_cast<FileJob*>(static_cast<FileOperation&>(operation).job_);
  if (!pool().cancel(job)) return;  // It has begun: its result is waited for.
  job.result = -ECANCELED;
  file_done(job);
}

void EpollBackend::deliver_files() {
  {
    const std::lock_guard lock(files_mutex_);
    files_completing_.swap(files_done_);
  }
  for (FileJob* const done : files_completing_) {
    const std::unique_ptr<FileJob> job(done);
    job->operation.kind_ = Operation::Kind::none;
    --files_in_flight_;
    job->operation.completed_(job->operation, {.result = job->result, .more = false, .bytes = {}});
  }
  files_completing_.clear();
}

}  // namespace sennit::runtime::io
