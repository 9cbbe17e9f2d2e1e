#pragma once
// Registry: every metric of a program, by name, for whoever shows them.
//
// A main builds one, says how many workers there are, and hands it down; a module registers what it
// counts and keeps references. Names follow Prometheus: base units, a counter ends in _total.
//
//   metrics::Registry registry({.slots = worker_count});
//   auto& open = registry.gauge("http_connections", "Connections open now.").with();
//   auto& taken = registry.histogram("http_request_seconds", "From first byte to last.",
//   {"route"});
//
// Registering a name again with the same kind and labels gives the same family, so that two servers
// in one program share it. Another kind or other labels, or a name that Prometheus would refuse, is
// a defect of the program and stops it.
//
// Thread safety: every function from any thread. Families and their metrics live as long as the
// registry.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sennit/metrics/family.hpp"
#include "sennit/metrics/metric.hpp"

namespace sennit::metrics {

/// How a histogram is recorded, and how shown. Recorded are integers, shown is value / divisor, and
/// how many were at most each of the bounds (within the digits that are recorded).
struct HistogramSettings {
  HistogramOptions recorded = {.significant_digits = 2};
  double divisor = 1e9;  // Nanoseconds are shown in seconds.
  std::vector<double> bounds = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                0.1,    0.25,    0.5,    1,     2.5,    5,     10,   30,    60};

  /// Stops the program unless the options are supported, the divisor is above 0 and the bounds are
  /// in order.
  void check() const;
};

struct HistogramFamily {
  HistogramFamily(std::vector<std::string> label_names, std::size_t series_max, std::size_t slots,
                  HistogramSettings settings);

  const HistogramSettings settings;
  Family<SharedHistogram> family;
};

class Registry {
 public:
  struct Options {
    std::size_t slots = 1;          // Workers that record; each has a cell in every metric it uses.
    std::size_t series_max = 1000;  // Label combinations of one family, see family.hpp.
  };
  template <class Value>
  using Series = std::vector<std::pair<LabelValues, Value>>;
  /// Numbers that are asked for when shown, from whichever thread shows them.
  struct Asked {
    bool only_goes_up;
    std::vector<std::string> label_names;
    std::function<Series<double>()> series;
  };
  struct AskedHistograms {
    std::vector<std::string> label_names;
    HistogramSettings settings;
    std::function<Series<Histogram>()> series;
  };
  using Metrics = std::variant<std::unique_ptr<Family<Counter>>, std::unique_ptr<Family<Gauge>>,
                               std::unique_ptr<HistogramFamily>, Asked, AskedHistograms>;

  explicit Registry(Options options);

  Family<Counter>& counter(const std::string& name, std::string help,
                           std::vector<std::string> label_names = {});
  Family<Gauge>& gauge(const std::string& name, std::string help,
                       std::vector<std::string> label_names = {});
  Family<SharedHistogram>& histogram(const std::string& name, std::string help,
                                     std::vector<std::string> label_names = {},
                                     HistogramSettings settings = {});

  /// For what something else counts already. `value` must not use this registry, and what it reads
  /// must outlive it. Registering a name again replaces the function.
  void counter_from(const std::string& name, std::string help, std::function<double()> value);
  void gauge_from(const std::string& name, std::string help, std::function<double()> value);
  /// The same with labels. Each series has one clean value (clean_label_value()) per name, and no
  /// two have the same; `series` sees to it that they are not many.
  void counters_from(const std::string& name, std::string help,
                     std::vector<std::string> label_names, std::function<Series<double>()> series);
  void gauges_from(const std::string& name, std::string help, std::vector<std::string> label_names,
                   std::function<Series<double>()> series);
  /// All with the options settings.recorded.
  void histograms_from(const std::string& name, std::string help,
                       std::vector<std::string> label_names, HistogramSettings settings,
                       std::function<Series<Histogram>()> series);

  /// Calls visit(name, help, metrics) for each family, by name.
  void for_each(const std::function<void(const std::string& name, const std::string& help,
                                         const Metrics& metrics)>& visit) const;

  [[nodiscard]] std::size_t slots() const { return options_.slots; }

 private:
  struct Entry {
    std::string help;
    Metrics metrics;
  };
  template <class Pointer, class Make>
  auto& find_or_make(const std::string& name, std::string help, Make make);
  template <class AskedKind>
  void add_asked(const std::string& name, std::string help, AskedKind asked);

  const Options options_;
  mutable std::mutex mutex_;  // Guards the map, not the families.
  std::map<std::string, Entry> entries_;
};

}  // namespace sennit::metrics
