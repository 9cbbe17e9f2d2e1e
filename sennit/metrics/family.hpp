#pragma once
// Families: one metric per combination of label values, and never more than allowed.
//
//   auto& requests = registry.counter("http_requests_total", "Requests answered.", {"route",
//   "code"}); CounterCell& found = requests.with("/users/{id}", "200").cell(worker_index);   //
//   keep this
//
// Label values may come from outside, so they are bounded: beyond series_max combinations every new
// one is counted in one series whose values are all "other"; a value is cut at label_bytes_max, and
// bytes that are not UTF-8 become U+FFFD.
//
// Thread safety: every function from any thread. with() takes a lock and looks in a map: ask once
// and keep the cell. Metrics live as long as their family.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sennit::metrics {

inline constexpr std::size_t label_bytes_max = 128;
inline constexpr std::string_view overflow_label = "other";

using LabelValues = std::vector<std::string>;

/// As with() stores it: cut and made valid.
[[nodiscard]] std::string clean_label_value(std::string_view value);

/// Which combination is which index. The part of a family that needs no type.
class LabelIndex {
 public:
  LabelIndex(std::vector<std::string> names, std::size_t series_max);

  /// The index of a combination, a new one as long as there is room; 0 is the overflow series.
  /// Requires as many values as names.
  std::size_t index_of(std::span<const std::string_view> values);

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] std::uint64_t overflow_count() const { return overflow_count_; }
  /// In order of the values, the overflow series last and only if it was ever needed.
  [[nodiscard]] std::vector<std::pair<LabelValues, std::size_t>> series() const;

 private:
  const std::vector<std::string> names_;
  const std::size_t series_max_;
  std::map<LabelValues, std::size_t> index_by_values_;
  std::uint64_t overflow_count_ = 0;
};

template <class Metric>
class Family {
 public:
  using Make = std::function<std::unique_ptr<Metric>()>;

  Family(std::vector<std::string> label_names, std::size_t series_max, Make make)
      : labels_(std::move(label_names), series_max), make_(std::move(make)) {}

  /// The metric of these label values, in the order of the names. Requires one value per name.
  template <class... Value>
  Metric& with(const Value&... values) {
    const std::array<std::string_view, sizeof...(Value)> all{std::string_view(values)...};
    return with_values(all);
  }
  Metric& with_values(std::span<const std::string_view> values) {
    const std::lock_guard lock(mutex_);
    const std::size_t index = labels_.index_of(values);
    if (index >= metrics_.size()) metrics_.resize(index + 1);
    if (!metrics_[index]) metrics_[index] = make_();
    return *metrics_[index];
  }

  /// Calls visit(const LabelValues&, const Metric&) for each series.
  template <class Visit>
  void for_each(Visit visit) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [values, index] : labels_.series()) visit(values, *metrics_[index]);
  }

  /// Lookups that ended in the overflow series.
  [[nodiscard]] std::uint64_t overflow_count() const {
    const std::lock_guard lock(mutex_);
    return labels_.overflow_count();
  }
  [[nodiscard]] const std::vector<std::string>& label_names() const { return labels_.names(); }

 private:
  mutable std::mutex mutex_;  // Guards all below, not what the metrics hold.
  LabelIndex labels_;
  std::vector<std::unique_ptr<Metric>> metrics_;  // By index; addresses stay.
  Make make_;
};

}  // namespace sennit::metrics
