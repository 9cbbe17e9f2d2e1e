#include "sennit/http/files.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <optional>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

#include "sennit/base/assert.hpp"
#include "sennit/http/detail/chars.hpp"
#include "sennit/http/detail/conditional.hpp"
#include "sennit/http/h1/serializer.hpp"
#include "sennit/http/ranges.hpp"

namespace sennit::http {
namespace {

constexpr std::size_t path_bytes_max = 4096;

// Each segment is a plain name; nothing in it can mean another place.
bool is_safe_path(std::string_view path) {
  if (path.empty() || path.size() > path_bytes_max) return false;
  if (path.find('\0') != path.npos || path.find('\\') != path.npos) return false;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (end == 0 || path.front() == '.') return false;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return true;
}

// An encoded separator is a character of its segment, which no file here has in its name.
bool hides_a_separator(std::string_view raw) {
  for (std::size_t at = raw.find('%'); at != raw.npos; at = raw.find('%', at + 1)) {
    const std::string_view digits = raw.substr(at + 1, 2);
    for (const std::string_view hidden : {"2f", "5c", "00"}) {
      if (detail::equals_ignoring_case(digits, hidden)) return true;
    }
  }
  return false;
}

int open_beneath(int root, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const auto opened = ::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how);
  return static_cast<int>(opened);
}

// Without openat2: name by name, following nothing.
int open_by_steps(int root, std::string_view path, int flags) {
  int folder = ::fcntl(root, F_DUPFD_CLOEXEC, 0);
  while (folder >= 0) {
    const std::size_t slash = path.find('/');
    const std::string name(path.substr(0, slash));
    const bool is_last = slash == path.npos;
    const int step_flags = is_last ? flags : O_PATH | O_DIRECTORY;
    const int next = ::openat(folder, name.c_str(), step_flags | O_NOFOLLOW | O_CLOEXEC);
    ::close(folder);
    if (is_last) return next;
    folder = next;
    path.remove_prefix(slash + 1);
  }
  return -1;
}

int open_below(int root, const std::string& path, int flags) {
  const int opened = open_beneath(root, path, flags);
  if (opened >= 0 || (errno != ENOSYS && errno != EPERM)) return opened;
  return open_by_steps(root, path, flags);
}

// Looked at first, so that nothing but a regular file is ever opened: opening a device or a FIFO
// does something.
int open_regular(int root, const std::string& path, struct stat& facts) {
  const int seen = open_below(root, path, O_PATH);
  if (seen < 0) return -1;
  struct stat before{};
  const bool is_regular = ::fstat(seen, &before) == 0 && S_ISREG(before.st_mode);
  ::close(seen);
  if (!is_regular) return -1;
  const int opened = open_below(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (opened < 0) return -1;
  const bool is_same = ::fstat(opened, &facts) == 0 && facts.st_ino == before.st_ino &&
                       facts.st_dev == before.st_dev && S_ISREG(facts.st_mode);
  if (is_same) return opened;
  ::close(opened);
  return -1;
}

void set_known(Response& response, std::string_view name, std::string_view value) {
  const Result<> set = response.headers().set(name, value);
  SENNIT_ASSERT(set.has_value());
}

// One range goes out as it is, several as parts of a body of their own.
void add_ranges(Response& response, FileBody& body, const std::vector<ByteRange>& ranges,
                std::uint64_t length, std::string_view type, const std::string& boundary) {
  const auto content_range = [length](const ByteRange& range) {
    return fmt::format("bytes {}-{}/{}", range.offset, range.offset + range.bytes - 1, length);
  };
  if (ranges.size() == 1) {
    body.add_range(ranges[0].offset, ranges[0].bytes);
    return set_known(response, "Content-Range", content_range(ranges[0]));
  }
  for (const ByteRange& range : ranges) {
    body.add_text(fmt::format("\r\n--{}\r\nContent-Type: {}\r\nContent-Range: {}\r\n\r\n", boundary,
                              type, content_range(range)));
    body.add_range(range.offset, range.bytes);
  }
  body.add_text("\r\n--" + boundary + "--\r\n");
  set_known(response, "Content-Type", "multipart/byteranges; boundary=" + boundary);
}

Response file_response(const Request& request, int descriptor, const struct stat& facts,
                       std::string_view type) {
  auto body = std::make_shared<FileBody>(descriptor);  // Owns it from here on.
  const auto length = static_cast<std::uint64_t>(facts.st_size);
  const auto modified = WallTime(std::chrono::seconds(facts.st_mtim.tv_sec));
  const std::string tag =
      fmt::format("\"{:x}-{:x}-{:x}\"", facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec, length);
  Response response(Status::ok, type, {});
  set_known(response, "ETag", tag);
  set_known(response, "Last-Modified", h1::http_date(modified));
  set_known(response, "Accept-Ranges", "bytes");
  const detail::Validators validators{tag, modified};
  const Status status = detail::evaluate_conditions(request, validators);
  response.set_status(status);
  if (status == Status::precondition_failed) return problem(status);
  if (status == Status::not_modified) return response;
  Ranges asked;
  const auto range = request.header("range");
  if (range && request.method() == Method::get && detail::range_applies(request, validators)) {
    asked = parse_ranges(*range, length);
  }
  if (asked.kind == Ranges::Kind::unsatisfiable) {
    Response refused = problem(Status::range_not_satisfiable);
    set_known(refused, "Content-Range", fmt::format("bytes */{}", length));
    return refused;
  }
  if (asked.kind == Ranges::Kind::satisfiable) {
    response.set_status(Status::partial_content);
    const std::string boundary = fmt::format("sennit-{:x}-{:x}", facts.st_ino, length);
    add_ranges(response, *body, asked.ranges, length, type, boundary);
  } else {
    body->add_range(0, length);
  }
  response.set_file(std::move(body));
  return response;
}

}  // namespace

StaticFiles::Root::~Root() { ::close(descriptor); }

Result<StaticFiles> StaticFiles::open(const std::string& root) {
  const int descriptor = ::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return os_failure(errno, "serve the files of " + root);
  return StaticFiles(std::make_shared<const Root>(descriptor));
}

Response StaticFiles::serve(const Request& request, std::string_view path) const {
  std::string wanted(path);
  if (wanted.empty() || wanted.ends_with('/')) wanted += "index.html";
  if (hides_a_separator(request.path()) || !is_safe_path(wanted)) {
    return problem(Status::not_found);
  }
  struct stat facts{};
  const int descriptor = open_regular(root_->descriptor, wanted, facts);
  if (descriptor < 0) return problem(Status::not_found);
  return file_response(request, descriptor, facts, content_type_of(wanted));
}

std::function<Response(Request&)> StaticFiles::handler(std::string param) const {
  return [files = *this, name = std::move(param)](Request& request) {
    return files.serve(request, request.param(name));
  };
}

std::string_view content_type_of(std::string_view filename) {
  constexpr std::pair<std::string_view, std::string_view> types[] = {
      {"html", "text/html; charset=utf-8"},
      {"htm", "text/html; charset=utf-8"},
      {"css", "text/css; charset=utf-8"},
      {"js", "text/javascript; charset=utf-8"},
      {"mjs", "text/javascript; charset=utf-8"},
      {"json", "application/json"},
      {"txt", "text/plain; charset=utf-8"},
      {"md", "text/markdown; charset=utf-8"},
      {"csv", "text/csv; charset=utf-8"},
      {"xml", "application/xml"},
      {"svg", "image/svg+xml"},
      {"png", "image/png"},
      {"jpg", "image/jpeg"},
      {"jpeg", "image/jpeg"},
      {"gif", "image/gif"},
      {"webp", "image/webp"},
      {"avif", "image/avif"},
      {"ico", "image/x-icon"},
      {"pdf", "application/pdf"},
      {"wasm", "application/wasm"},
      {"woff", "font/woff"},
      {"woff2", "font/woff2"},
      {"mp4", "video/mp4"},
      {"webm", "video/webm"},
      {"mp3", "audio/mpeg"},
      {"zip", "application/zip"},
      {"gz", "application/gzip"},
  };
  const std::size_t dot = filename.rfind('.');
  const std::string_view extension = dot == filename.npos ? "" : filename.substr(dot + 1);
  for (const auto& [known, type] : types) {
    if (detail::equals_ignoring_case(extension, known)) return type;
  }
  return "application/octet-stream";
}

}  // namespace sennit::http
