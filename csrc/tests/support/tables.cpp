#include "tests/support/tables.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace fastaug::test {
namespace {

[[noreturn]] void end(const std::string& what) {
  std::fprintf(stderr, "%s/%s; `make tables` writes the tables\n", FASTAUG_TABLES, what.c_str());
  std::abort();
}

// The lines of a table without its comments, split into words.
std::vector<std::vector<std::string>> lines_of(const std::string& name) {
  std::ifstream file(std::string(FASTAUG_TABLES) + "/" + name);
  if (!file) end(name + " cannot be read");
  std::vector<std::vector<std::string>> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream stream(line);
    std::vector<std::string>& words = lines.emplace_back();
    for (std::string word; stream >> word;) words.push_back(word);
  }
  return lines;
}

int integer(const std::string& word) { return static_cast<int>(std::strtol(word.c_str(), nullptr, 0)); }

// Calls take(k, text) for each item of "1,2,3"; "-" has none.
void each(const std::string& list, size_t most, auto take) {
  if (list == "-") return;
  std::istringstream stream(list);
  std::string item;
  for (size_t k = 0; std::getline(stream, item, ','); ++k) {
    if (k == most) end("a list is too long: " + list);
    take(k, item);
  }
}

constexpr size_t kWords = 5;  // of an op
constexpr size_t kSpec = 6;   // of an answer, before its ops

Op parse_op(const std::string* word) {
  Op op{};
  int id = 0;
  while (id < kOpCount && name_of(static_cast<OpId>(id)) != word[0]) ++id;
  if (id == kOpCount) end("the op " + word[0] + " is not registered");
  op.id = static_cast<OpId>(id);
  op.flags = static_cast<uint16_t>(integer(word[1]));
  each(word[2], std::size(op.fill),
       [&](size_t k, const std::string& item) { op.fill[k] = static_cast<uint8_t>(integer(item)); });
  each(word[3], std::size(op.i), [&](size_t k, const std::string& item) { op.i[k] = integer(item); });
  each(word[4], std::size(op.f),
       [&](size_t k, const std::string& item) { op.f[k] = std::strtod(item.c_str(), nullptr); });
  return op;
}

std::vector<uint8_t> parse_bytes(const std::string& hex) {
  std::vector<uint8_t> bytes(hex.size() / 2);
  for (size_t k = 0; k < bytes.size(); ++k) {
    bytes[k] = static_cast<uint8_t>(std::strtol(hex.substr(2 * k, 2).c_str(), nullptr, 16));
  }
  return bytes;
}

Shape parse_shape(const std::string* word) { return {integer(word[0]), integer(word[1]), integer(word[2])}; }

struct OperandTable {
  std::vector<int> sides;
  std::vector<Op> rows[kOpCount];

  OperandTable() {
    for (const std::vector<std::string>& words : lines_of("operands.txt")) {
      if (words[0] == "SIDES") {
        for (size_t k = 1; k < words.size(); ++k) sides.push_back(integer(words[k]));
      } else {
        if (words.size() != kWords) end("operands.txt has a line of another form");
        const Op op = parse_op(words.data());
        rows[static_cast<int>(op.id)].push_back(op);
      }
    }
    for (int id = 0; id < kOpCount; ++id) {
      if (rows[id].empty()) end(std::string("operands.txt has no row of ") + name_of(static_cast<OpId>(id)));
    }
    if (sides.empty()) end("operands.txt has no sides");
  }
};

struct AnswerTable {
  std::vector<Picture> pictures;
  std::vector<Answer> answers;

  AnswerTable() {
    const auto lines = lines_of("answers.txt");
    for (const std::vector<std::string>& words : lines) {
      if (words[0] == "IMAGE" && words.size() == 5) pictures.push_back({parse_shape(&words[1]), parse_bytes(words[4])});
    }
    for (const std::vector<std::string>& words : lines) {
      if (words[0] == "IMAGE") continue;
      const bool whole = words[0] == "ANSWER" && words.size() > kSpec && (words.size() - kSpec) % kWords == 0;
      const auto k = whole ? static_cast<size_t>(integer(words[1])) : pictures.size();
      if (k >= pictures.size()) end("answers.txt has a line of another form");
      Answer& answer = answers.emplace_back(Answer{&pictures[k], {}, parse_shape(&words[2]), parse_bytes(words[5])});
      for (size_t at = kSpec; at < words.size(); at += kWords) answer.program.push_back(parse_op(&words[at]));
    }
  }
};

const OperandTable& operand_table() {
  static const OperandTable table;
  return table;
}

}  // namespace

std::span<const Op> operands_of(OpId id) { return operand_table().rows[static_cast<int>(id)]; }

std::span<const int> usual_sides() { return operand_table().sides; }

std::span<const Answer> answers() {
  static const AnswerTable table;
  return table.answers;
}

}  // namespace fastaug::test
