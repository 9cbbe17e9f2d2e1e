#pragma once
// RateSearch: the highest rate that holds, found by trying: doubled while it holds, then halved in
// between.
//
//   RateSearch search(1000);
//   while (auto rate = search.next()) search.tell(holds(*rate));
//   search.best()                                        0 if not even the lowest rate held
//
// Thread safety: none.

#include <optional>

namespace sennit::load {

class RateSearch {
 public:
  /// Ends when what holds and what does not are less than `precision` apart, as a part of the
  /// former, and after `tries_max` tries in any case. Requires first > 0 and precision > 0.
  explicit RateSearch(double first, double precision = 0.05, int tries_max = 40);

  /// What to try next; none when it is done.
  [[nodiscard]] std::optional<double> next() const;
  /// Whether the rate that next() named held.
  void tell(bool holds);
  /// The highest that held; 0 if none did.
  [[nodiscard]] double best() const { return low_; }

 private:
  static constexpr double least = 1, most = 1e8;
  const double first_;
  const double precision_;
  int tries_left_;
  double low_ = 0;   // Held; 0: nothing has yet.
  double high_ = 0;  // Did not hold; 0: nothing has failed yet.
};

}  // namespace sennit::load
