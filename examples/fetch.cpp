// fetch: a small curl. Asks for a URL and writes the body to standard output as it comes.
//
//   fetch http://127.0.0.1:8080/status
//   fetch -X PUT -d @file -H 'Content-Type: text/plain' http://127.0.0.1:8080/files/1
//   fetch -v --deadline-ms 200 --retry 2 http://service/
//
// Exit status: 0 for an answer below 400, 22 for others (as curl -f), 1 if there was none.

#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sennit/base/log.hpp"
#include "sennit/http/client.hpp"
#include "sennit/runtime/runtime.hpp"

using namespace sennit;

namespace {

struct Wanted {
  std::string url, method;
  std::vector<std::pair<std::string, std::string>> headers;
  std::optional<std::string> body;
  std::int64_t deadline_ms = 30'000;
  std::int64_t retries = 0;
  std::int64_t redirects = 10;
  std::string backend = "auto";
  bool is_verbose = false, is_raw = false;
};

constexpr const char* usage =
    "usage: fetch [-X METHOD] [-H 'Name: value'] [-d BODY|@FILE] [-v] [--raw] [--retry N]\n"
    "             [--redirects N] [--deadline-ms N] [--backend auto|uring|epoll] URL\n";

bool set_number(std::string_view text, std::int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0;
}

bool set_body(const std::string& text, Wanted& wanted) {
  wanted.body = text;
  if (!text.starts_with('@')) return true;
  std::ifstream file(text.substr(1), std::ios::binary);
  wanted.body.emplace(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  return file.good() || file.eof();
}

bool set_header(const std::string& text, Wanted& wanted) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return false;
  wanted.headers.emplace_back(text.substr(0, colon), text.substr(colon + 1));
  return true;
}

bool set_option(const std::string& name, const std::string& value, Wanted& wanted) {
  if (name == "-H") return set_header(value, wanted);
  if (name == "-d") return set_body(value, wanted);
  if (name == "--retry") return set_number(value, wanted.retries);
  if (name == "--redirects") return set_number(value, wanted.redirects);
  if (name == "--deadline-ms") return set_number(value, wanted.deadline_ms);
  if (name == "-X") wanted.method = value;
  if (name == "--backend") wanted.backend = value;
  return name == "-X" || name == "--backend";
}

std::optional<Wanted> parse(int argc, char** argv) {
  Wanted wanted;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "-v") {
      wanted.is_verbose = true;
    } else if (word == "--raw") {
      wanted.is_raw = true;
    } else if (!word.starts_with('-') && wanted.url.empty()) {
      wanted.url = word;
    } else if (i + 1 == argc || !set_option(word, argv[++i], wanted)) {
      return std::nullopt;
    }
  }
  if (wanted.method.empty()) wanted.method = wanted.body ? "POST" : "GET";
  if (wanted.url.empty()) return std::nullopt;
  return wanted;
}

http::Client::Call describe(http::Client& client, const Wanted& wanted) {
  auto call = client.request(wanted.method, wanted.url)
                  .deadline(std::chrono::milliseconds(wanted.deadline_ms))
                  .retry(static_cast<unsigned>(wanted.retries))
                  .redirects(static_cast<unsigned>(wanted.redirects))
                  .stream();
  for (const auto& [name, value] : wanted.headers) std::move(call).header(name, value);
  if (wanted.body) std::move(call).body(*wanted.body);
  if (wanted.is_raw) std::move(call).raw();
  return call;
}

int report(const http::ClientError& error) {
  std::fprintf(stderr, "fetch: %s\n", error.to_string().c_str());
  return 1;
}

int fetch(const Wanted& wanted) {
  http::Client client;
  http::ClientResult response = wait(describe(client, wanted));
  if (!response) return report(response.error());
  const int status = static_cast<int>(response->status());
  if (wanted.is_verbose) {
    std::fprintf(stderr, "< %d %s\n", status, response->url().c_str());
    for (const http::Header header : response->headers()) {
      std::fprintf(stderr, "< %s: %s\n", std::string(header.name).c_str(),
                   std::string(header.value).c_str());
    }
  }
  std::string room(64 * 1024, '\0');
  for (;;) {
    const auto bytes = wait(response->read(room));
    if (!bytes) return report(bytes.error());
    if (*bytes == 0) break;
    std::fwrite(room.data(), 1, *bytes, stdout);
  }
  return status < 400 ? 0 : 22;
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Wanted> wanted = parse(argc, argv);
  if (!wanted) {
    std::fputs(usage, stderr);
    return 2;
  }
  log::set_level(log::Level::warning);
  RuntimeOptions options;
  options.stacks.usable_bytes = std::size_t{256} * 1024;
  const auto backend = runtime::io::backend_kind_from_name(wanted->backend);
  if (!backend) {
    std::fprintf(stderr, "fetch: %s\n", backend.error().to_string().c_str());
    return 2;
  }
  options.backend = *backend;
  auto runtime = Runtime::start(options);
  if (!runtime) {
    std::fprintf(stderr, "fetch: %s\n", runtime.error().to_string().c_str());
    return 1;
  }
  return (*runtime)->run([&] { return fetch(*wanted); });
}
