#include "sennit/runtime/runtime_metrics.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sennit/runtime/worker_stats.hpp"

namespace sennit::runtime {
namespace {

using metrics::Registry;
using AllStats = std::vector<std::shared_ptr<const WorkerStats>>;

// A series for each worker, of what `value` makes of its stats.
template <class Value>
auto per_worker(const AllStats& all, Value value) {
  return [all, value] {
    Registry::Series<decltype(value(*all[0]))> series;
    for (std::size_t i = 0; i < all.size(); ++i) {
      series.push_back({{std::to_string(i)}, value(*all[i])});
    }
    return series;
  };
}

// Two series for each worker, told apart by a second label.
struct Labelled {
  const char* label;
  metrics::OneWriter<std::size_t> WorkerStats::* member;
};
auto two_per_worker(const AllStats& all, Labelled first, Labelled second) {
  return [=] {
    Registry::Series<double> series;
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (const Labelled& each : {first, second}) {
        series.push_back({{std::to_string(i), each.label},
                          static_cast<double>((all[i].get()->*each.member).get())});
      }
    }
    return series;
  };
}

void register_counters(Registry& registry, const AllStats& all) {
  registry.counters_from(
      "sennit_worker_turns_total", "Turns of the worker's loop.", {"worker"},
      per_worker(all, [](const auto& stats) { return static_cast<double>(stats.turns.get()); }));
  registry.counters_from(
      "sennit_worker_jobs_total", "Jobs run: fibers and coroutines continued, and the like.",
      {"worker"},
      per_worker(all, [](const auto& stats) { return static_cast<double>(stats.jobs.get()); }));
  registry.counters_from("sennit_worker_cpu_seconds_total",
                         "Processor time of the worker's thread, user and system.", {"worker"},
                         per_worker(all, [](const auto& stats) {
                           return static_cast<double>(stats.cpu_ns.get()) / 1e9;
                         }));
}

}  // namespace

void register_runtime_metrics(Registry& registry, Runtime& runtime) {
  AllStats all;
  for (unsigned i = 0; i < runtime.worker_count(); ++i) all.push_back(runtime.worker(i).stats());
  register_counters(registry, all);

  struct Gauge {
    const char* name;
    const char* help;
    metrics::OneWriter<std::size_t> WorkerStats::* member;
  };
  for (const auto& [name, help, member] :
       {Gauge{"sennit_worker_ready_jobs", "Jobs that the last turn found ready.",
              &WorkerStats::ready_jobs},
        Gauge{"sennit_worker_busy_fibers", "Fibers that run or wait.", &WorkerStats::busy_fibers},
        Gauge{"sennit_worker_open_sockets", "Sockets of the worker.",
              &WorkerStats::open_sockets}}) {
    registry.gauges_from(name, help, {"worker"}, per_worker(all, [member](const auto& stats) {
                           return static_cast<double>((stats.*member).get());
                         }));
  }
  registry.gauges_from("sennit_worker_stacks", "Stacks of fibers, lent and kept.",
                       {"worker", "state"},
                       two_per_worker(all, {"on_loan", &WorkerStats::stacks_on_loan},
                                      {"idle", &WorkerStats::stacks_idle}));
  registry.gauges_from("sennit_worker_ring_depth",
                       "Entries of io_uring's rings in use, before the kernel is entered.",
                       {"worker", "ring"},
                       two_per_worker(all, {"submission", &WorkerStats::ring_submissions},
                                      {"completion", &WorkerStats::ring_completions}));
  registry.gauges_from("sennit_worker_ring_entries", "Entries that io_uring's rings have.",
                       {"worker", "ring"},
                       two_per_worker(all, {"submission", &WorkerStats::ring_submissions_max},
                                      {"completion", &WorkerStats::ring_completions_max}));
  metrics::HistogramSettings settings;
  settings.recorded = all[0]->loop_lag_ns.options();
  registry.histograms_from("sennit_worker_loop_lag_seconds",
                           "How long something ready waits until it runs, sampled.", {"worker"},
                           settings, per_worker(all, [](const auto& stats) {
                             metrics::Histogram lag(stats.loop_lag_ns.options());
                             stats.loop_lag_ns.add_to(lag);
                             return lag;
                           }));
}

}  // namespace sennit::runtime
