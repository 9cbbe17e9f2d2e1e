#pragma once
// LoadArguments: the command line of `sennit load`, and what it means.

#include <string>
#include <vector>

#include "sennit/base/result.hpp"
#include "sennit/load/condition.hpp"
#include "sennit/load/options.hpp"
#include "sennit/load/sweep.hpp"

namespace CLI {
class App;
}

namespace sennit::tools {

class LoadArguments {
 public:
  /// Adds them to `load`, which fills this object when it parses.
  void add_to(CLI::App& load);

  /// Errors: invalid_argument, not_found and others for files; the text says which argument.
  [[nodiscard]] Result<load::Options> options() const;
  [[nodiscard]] Result<std::vector<load::Axis>> axes() const;
  [[nodiscard]] Result<std::vector<load::Condition>> fail_conditions() const;
  [[nodiscard]] Result<load::Condition> slo() const { return load::Condition::parse(slo_); }

  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] bool is_sweep() const { return !sweep_.empty(); }
  [[nodiscard]] bool is_search() const { return !slo_.empty(); }
  [[nodiscard]] bool shows_distribution() const { return latency_; }

  struct Outputs {
    std::string json, html, hgrm;
  };
  [[nodiscard]] const Outputs& outputs() const { return outputs_; }

 private:
  void add_requests_to(CLI::App& load);
  void add_pace_to(CLI::App& load);
  void add_results_to(CLI::App& load);
  [[nodiscard]] Result<void> set_pace(load::Options& options) const;
  [[nodiscard]] Result<void> set_requests(load::Options& options) const;
  [[nodiscard]] Result<void> add_beside(load::Options& options) const;

  std::string url_;
  std::string connections_ = "10";
  std::string duration_ = "10s";
  std::string threads_;
  std::string timeout_ = "2s";
  std::string rate_;
  std::string profile_;
  std::string warm_up_;
  std::string lag_max_ = "1ms";
  std::string pipeline_ = "1";
  std::string requests_per_connection_;
  std::vector<std::string> headers_;
  std::string method_;
  std::string body_;
  std::string mix_path_;
  std::string unix_socket_;
  std::string beside_url_;
  std::string beside_rate_;
  std::string beside_connections_ = "10";
  std::vector<std::string> sweep_;
  std::string slo_;
  std::vector<std::string> fail_if_;
  Outputs outputs_;
  std::string backend_ = "auto";
  std::uint64_t seed_ = 1;
  bool latency_ = false;
  bool pin_ = false;
};

/// "Name: value", as -H takes it.
[[nodiscard]] Result<void> add_header(http::Headers& headers, const std::string& text);

}  // namespace sennit::tools
