#include "sennit/metrics/registry.hpp"

#include <algorithm>
#include <string_view>

#include "sennit/base/assert.hpp"

namespace sennit::metrics {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_label_name(std::string_view name) {
  return !name.empty() && !name.starts_with("__") && is_letter(name.front()) &&
         std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c); });
}

// Colons are allowed by Prometheus and left to its recording rules.
bool is_metric_name(std::string_view name) { return is_label_name(name); }

void check_names(const std::string& name, std::vector<std::string> label_names) {
  SENNIT_ASSERT(is_metric_name(name), name);
  for (const std::string& label : label_names) {
    SENNIT_ASSERT(is_label_name(label) && label != "le", name, label);
  }
  std::ranges::sort(label_names);
  SENNIT_ASSERT(std::ranges::adjacent_find(label_names) == label_names.end(), name);
}

bool ends_as_counter(const std::string& name) { return name.ends_with("_total"); }

}  // namespace

void HistogramSettings::check() const {
  SENNIT_ASSERT(HistogramLayout::supports(recorded), recorded.lowest, recorded.highest,
                recorded.significant_digits);
  SENNIT_ASSERT(divisor > 0, divisor);
  SENNIT_ASSERT(std::ranges::is_sorted(bounds), bounds.size());
}

HistogramFamily::HistogramFamily(std::vector<std::string> label_names, std::size_t series_max,
                                 std::size_t slots, HistogramSettings given)
    : settings(std::move(given)),
      family(std::move(label_names), series_max, [slots, recorded = settings.recorded] {
        return std::make_unique<SharedHistogram>(slots, recorded);
      }) {
  settings.check();
}

Registry::Registry(Options options) : options_(options) {}

template <class Pointer, class Make>
auto& Registry::find_or_make(const std::string& name, std::string help, Make make) {
  const std::lock_guard lock(mutex_);
  const auto [entry, is_new] = entries_.try_emplace(name);
  if (is_new) entry->second = {std::move(help), Pointer(make())};
  Pointer* const metrics = std::get_if<Pointer>(&entry->second.metrics);
  SENNIT_ASSERT(metrics != nullptr, name);  // Otherwise the name is of another kind.
  return **metrics;
}

Family<Counter>& Registry::counter(const std::string& name, std::string help,
                                   std::vector<std::string> label_names) {
  check_names(name, label_names);
  SENNIT_ASSERT(ends_as_counter(name), name);
  auto& family = find_or_make<std::unique_ptr<Family<Counter>>>(name, std::move(help), [&] {
    return std::make_unique<Family<Counter>>(
        label_names, options_.series_max,
        [slots = options_.slots] { return std::make_unique<Counter>(slots); });
  });
  SENNIT_ASSERT(family.label_names() == label_names, name);
  return family;
}

Family<Gauge>& Registry::gauge(const std::string& name, std::string help,
                               std::vector<std::string> label_names) {
  check_names(name, label_names);
  SENNIT_ASSERT(!ends_as_counter(name), name);
  auto& family = find_or_make<std::unique_ptr<Family<Gauge>>>(name, std::move(help), [&] {
    return std::make_unique<Family<Gauge>>(
        label_names, options_.series_max,
        [slots = options_.slots] { return std::make_unique<Gauge>(slots); });
  });
  SENNIT_ASSERT(family.label_names() == label_names, name);
  return family;
}

Family<SharedHistogram>& Registry::histogram(const std::string& name, std::string help,
                                             std::vector<std::string> label_names,
                                             HistogramSettings settings) {
  check_names(name, label_names);
  SENNIT_ASSERT(!ends_as_counter(name), name);
  auto& found = find_or_make<std::unique_ptr<HistogramFamily>>(name, std::move(help), [&] {
    return std::make_unique<HistogramFamily>(label_names, options_.series_max, options_.slots,
                                             std::move(settings));
  });
  SENNIT_ASSERT(found.family.label_names() == label_names, name);
  return found.family;
}

void Registry::counter_from(const std::string& name, std::string help,
                            std::function<double()> value) {
  counters_from(name, std::move(help), {},
                [value = std::move(value)] { return Series<double>(1, {LabelValues(), value()}); });
}

void Registry::gauge_from(const std::string& name, std::string help,
                          std::function<double()> value) {
  gauges_from(name, std::move(help), {},
              [value = std::move(value)] { return Series<double>(1, {LabelValues(), value()}); });
}

void Registry::counters_from(const std::string& name, std::string help,
                             std::vector<std::string> label_names,
                             std::function<Series<double>()> series) {
  SENNIT_ASSERT(ends_as_counter(name), name);
  add_asked(name, std::move(help), Asked{true, std::move(label_names), std::move(series)});
}

void Registry::gauges_from(const std::string& name, std::string help,
                           std::vector<std::string> label_names,
                           std::function<Series<double>()> series) {
  SENNIT_ASSERT(!ends_as_counter(name), name);
  add_asked(name, std::move(help), Asked{false, std::move(label_names), std::move(series)});
}

void Registry::histograms_from(const std::string& name, std::string help,
                               std::vector<std::string> label_names, HistogramSettings settings,
                               std::function<Series<Histogram>()> series) {
  SENNIT_ASSERT(!ends_as_counter(name), name);
  settings.check();
  add_asked(name, std::move(help),
            AskedHistograms{std::move(label_names), std::move(settings), std::move(series)});
}

template <class AskedKind>
void Registry::add_asked(const std::string& name, std::string help, AskedKind asked) {
  check_names(name, asked.label_names);
  const std::lock_guard lock(mutex_);
  const auto [entry, is_new] = entries_.try_emplace(name);
  SENNIT_ASSERT(is_new || std::holds_alternative<AskedKind>(entry->second.metrics), name);
  entry->second = {std::move(help), std::move(asked)};
}

void Registry::for_each(const std::function<void(const std::string& name, const std::string& help,
                                                 const Metrics& metrics)>& visit) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, entry] : entries_) visit(name, entry.help, entry.metrics);
}

}  // namespace sennit::metrics
