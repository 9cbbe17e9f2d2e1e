#include "sennit/perftest/flags.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <vector>

namespace sennit::perftest {
namespace {

template <class Number>
std::optional<Number> number_in(std::string_view text, Number least, Number most) {
  Number number{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  if (!(number >= least && number <= most)) return std::nullopt;
  return number;
}

// Stores the value and says whether it was one. A switch given without a value gets "".
using Store = std::function<bool(Flags&, std::string_view value)>;

// Both for a number and for an optional one.
template <class Number>
Store number_flag(auto member, Number least, Number most) {
  return [=](Flags& flags, std::string_view value) {
    const auto number = number_in<Number>(value, least, most);
    if (number) flags.*member = *number;
    return number.has_value();
  };
}
Store text_flag(std::string Flags::* member) {
  return [=](Flags& flags, std::string_view value) {
    flags.*member = value;
    return !value.empty();
  };
}
Store switch_flag(bool Flags::* member) {
  return [=](Flags& flags, std::string_view value) {
    const bool on = value.empty() || value == "1" || value == "true" || value == "yes";
    flags.*member = on;
    return on || value == "0" || value == "false" || value == "no";
  };
}

struct Flag {
  std::string_view name;
  bool is_switch;
  Store store;
};

const std::vector<Flag>& known_flags() {
  static const std::vector<Flag> flags = {
      {"hz", false, number_flag(&Flags::hz, 0.0, 1e9)},
      {"time", false, number_flag(&Flags::time_ms, 0, 86'400'000)},
      {"threads", false, number_flag(&Flags::threads, 1, 1024)},
      {"fibers", false, number_flag(&Flags::fibers, 0, 30'000)},
      {"warm_up", false, number_flag(&Flags::warm_up_ms, 0, 86'400'000)},
      {"repetitions", false, number_flag(&Flags::repetitions, 1, 100)},
      {"threshold", false, number_flag(&Flags::threshold_percent, 0.0, 1000.0)},
      {"json", false, text_flag(&Flags::json)},
      {"baseline", false, text_flag(&Flags::baseline)},
      {"save_baseline", false, text_flag(&Flags::save_baseline)},
      {"latency", true, switch_flag(&Flags::latency)},
      {"counters", true, switch_flag(&Flags::counters)},
      {"inconclusive_fails", true, switch_flag(&Flags::inconclusive_fails)},
      {"help", true, switch_flag(&Flags::help)},
  };
  return flags;
}

}  // namespace

Result<Flags> parse_flags(int& argc, char** argv) {
  Flags flags;
  int kept = std::min(argc, 1);
  for (int i = 1; i < argc; ++i) {
    std::string_view name = argv[i];
    const bool dashed = name.starts_with('-');
    name.remove_prefix(name.starts_with("--") ? 2 : dashed ? 1 : 0);
    const std::size_t equals = name.find('=');
    std::string_view value = equals == std::string_view::npos ? "" : name.substr(equals + 1);
    name = name.substr(0, equals);
    const auto flag = std::ranges::find(known_flags(), name, &Flag::name);
    if (!dashed || flag == known_flags().end()) {
      argv[kept++] = argv[i];
      continue;
    }
    if (equals == std::string_view::npos && !flag->is_switch && i + 1 < argc) value = argv[++i];
    if (!flag->store(flags, value)) {
      return failure(Errc::invalid_argument,
                     "read --" + std::string(name) + "=" + std::string(value));
    }
    if (flag->name == "help") argv[kept++] = argv[i];  // GoogleTest has a help of its own.
  }
  argc = kept;
  argv[argc] = nullptr;
  return flags;
}

std::string_view flags_help() {
  return "Performance tests (each flag as -name=value or --name=value):\n"
         "  -hz=CALLS_PER_SECOND      call at this rate; 0, the default: as often as possible\n"
         "  -time=MILLISECONDS        measure for this long; 1500 unless set\n"
         "  --threads=N               call from N threads at once\n"
         "  --fibers=N                call from N fibers on each thread, where fibers are linked\n"
         "  --warm_up=MILLISECONDS    call for this long before measuring; 100 unless set\n"
         "  --repetitions=N           divide the time into N, for median and spread; 5 unless set\n"
         "  --latency                 time each call, and show percentiles\n"
         "  --counters=0              leave the processor's counters alone\n"
         "  --inconclusive_fails      fail when EXPECT_FASTER cannot tell\n"
         "  --json=FILE               write the results\n"
         "  --save_baseline=DIR       write the results to a file for machines like this one\n"
         "  --baseline=DIR            compare with that file, and fail if something got slower\n"
         "  --threshold=PERCENT       by more than this; 5 unless set\n";
}

Settings settle(const Options& options, const Flags& flags) {
  Settings settings;
  settings.hz = flags.hz.value_or(std::max(options.hz, 0.0));
  settings.time_ms = flags.time_ms.value_or(options.time_ms >= 0 ? options.time_ms : 1500);
  settings.threads = flags.threads.value_or(std::max(options.threads, 1));
  settings.fibers = flags.fibers.value_or(std::max(options.fibers, 0));
  settings.warm_up_ms = flags.warm_up_ms;
  settings.repetitions = flags.repetitions;
  settings.latency = flags.latency || options.latency;
  settings.counters = flags.counters;
  settings.items_per_call = options.items_per_call;
  settings.bytes_per_call = options.bytes_per_call;
  return settings;
}

}  // namespace sennit::perftest
