#include "tools/sennit/shm_command.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fmt/core.h>
#include <poll.h>
#include <span>

#include "sennit/shm/inspect.hpp"

#include "tools/sennit/load_command.hpp"

namespace sennit::tools {
namespace {

int complain(const Error& error) {
  fmt::print(stderr, "sennit shm: could not {}\n", error.to_string());
  return exit_failed;
}

/// Bytes as people read them: hexadecimal, then what is printable.
void print_entry(std::uint64_t number, std::span<const std::byte> bytes) {
  fmt::print("{}: {} bytes\n", number, bytes.size());
  for (std::size_t line = 0; line < bytes.size(); line += 16) {
    std::string hex, text;
    for (std::size_t i = line; i < line + 16 && i < bytes.size(); ++i) {
      const auto value = static_cast<unsigned char>(bytes[i]);
      hex += fmt::format("{:02x} ", value);
      text += value >= 0x20 && value < 0x7f ? static_cast<char>(value) : '.';
    }
    fmt::print("  {:06x}  {:<48} {}\n", line, hex, text);
  }
}

int print_facts(const shm::Segment& segment) {
  const auto facts = shm::describe(segment);
  if (!facts) return complain(facts.error());
  for (const auto& [name, value] : *facts) fmt::print("{:>10}  {}\n", name, value);
  return exit_ok;
}

int get(const shm::Segment& segment, std::uint64_t wanted) {
  bool is_found = false;
  const auto walked =
      shm::for_each_entry(segment, [&](std::uint64_t number, std::span<const std::byte> bytes) {
        is_found = number == wanted;
        if (is_found) print_entry(number, bytes);
        return number < wanted;
      });
  if (!walked) return complain(walked.error());
  if (is_found) return exit_ok;
  return complain(Error(Errc::not_found, fmt::format("find number {}", wanted)));
}

int dump(const shm::Segment& segment) {
  const auto walked =
      shm::for_each_entry(segment, [](std::uint64_t number, std::span<const std::byte> bytes) {
        print_entry(number, bytes);
        return true;
      });
  return walked ? exit_ok : complain(walked.error());
}

int verify_all(const shm::Segment& segment) {
  if (const auto verified = shm::verify(segment); !verified) return complain(verified.error());
  fmt::print("{}: ok\n", segment.place().to_string());
  return exit_ok;
}

}  // namespace

ShmCommand::ShmCommand(CLI::App& app) {
  CLI::App* const command =
      app.add_subcommand("shm", "Look into segments of shared memory, and remove them");
  command_ = command;
  command->require_subcommand(1);
  command->footer(
      "A PLACE is posix:/NAME, file:PATH, sysv:KEY or sysv_huge:KEY. Looking takes part in "
      "nothing.\n"
      "\n"
      "Exit status: 0; 1 if it could not, or what was verified is wrong; 2 for a usage error.\n"
      "\n"
      "Example: sennit shm show posix:/orders");
  const auto with_place = [&](const char* name, const char* what) {
    CLI::App* const made = command->add_subcommand(name, what);
    made->add_option("place", place_, "which segment")->required();
    return made;
  };
  command->add_subcommand("ls", "List the segments that are there: posix and sysv");
  with_place("show", "Show header, owners, geometry and fill");
  with_place("get", "Print one element or message")
      ->add_option("number", number_, "which: an index, or a sequence number")
      ->required();
  with_place("dump", "Print every element or message, oldest first");
  with_place("verify", "Check everything that can be checked");
  with_place("rm", "Remove it; who has it mapped keeps it");
  CLI::App* const live = with_place("top", "Show it again and again");
  live->add_option("-i,--interval-ms", interval_ms_, "milliseconds between looks")
      ->check(CLI::Range(10, 3'600'000));
  live->add_option("-n,--rounds", rounds_, "how often; until interrupted unless given");
}

bool ShmCommand::parsed() const { return command_->parsed(); }

int ShmCommand::list() const {
  for (const shm::Place& place : shm::find_segments()) {
    const auto segment = shm::Segment::open(place, shm::Access::read_only, Duration::zero());
    if (!segment) continue;  // Removed meanwhile.
    const shm::Info& info = segment->info();
    fmt::print("{:<32} {:<12} {:>14} bytes  {:<8} {}\n", place.to_string(),
               shm::to_string(info.kind), info.bytes,
               info.is_damaged ? "damaged" : (info.is_clean ? "clean" : "in use"), info.label);
  }
  return exit_ok;
}

int ShmCommand::top() const {
  const auto place = shm::Place::parse(place_);
  if (!place) return complain(place.error());
  for (std::uint64_t round = 1;; ++round) {
    const auto segment = shm::Segment::open(*place, shm::Access::read_only, Duration::zero());
    if (!segment) return complain(segment.error());
    if (const int status = print_facts(*segment); status != exit_ok) return status;
    if (round == rounds_) return exit_ok;
    fmt::print("\n");
    std::fflush(stdout);
    ::poll(nullptr, 0, static_cast<int>(interval_ms_));
  }
}

int ShmCommand::run() const {
  const std::string action = command_->get_subcommands().front()->get_name();
  if (action == "ls") return list();
  if (action == "top") return top();
  const auto place = shm::Place::parse(place_);
  if (!place) {
    complain(place.error());
    return exit_usage;
  }
  if (action == "rm") {
    const auto removed = shm::Segment::remove(*place);
    return removed ? exit_ok : complain(removed.error());
  }
  const auto segment = shm::Segment::open(*place, shm::Access::read_only);
  if (!segment) return complain(segment.error());
  if (action == "show") return print_facts(*segment);
  if (action == "get") return get(*segment, number_);
  if (action == "dump") return dump(*segment);
  return verify_all(*segment);
}

}  // namespace sennit::tools
