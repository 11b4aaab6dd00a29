// The project's own sources, carried by the program: a report says which file and line to read,
// and looks the line up, so that it is right after every edit.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace lookback::text {

// Path from the project's root -> text (made by tools/data/embed_sources.cmake).
const std::map<std::string_view, std::string_view>& sources();

// The line, from 1, on which `code` first begins, whatever the spaces and line breaks in either;
// 0: nowhere.
int64_t line_of_code(std::string_view text, std::string_view code);

// The line, from 1, on which a function, or a struct or class, is defined, or, if it is not, first
// declared; 0: neither. Members as they are defined: "Head::forward".
int64_t line_of_definition(std::string_view text, std::string_view name);

// "attention/head.cpp:55". The file alone where it no longer has the code: a reader who changes the
// sources still gets his report. Tests hold every citation to its line.
std::string code_at(const std::string& file, const std::string& code);
// "attention/head.cpp:51, Head::forward"; likewise.
std::string definition_at(const std::string& file, const std::string& name);

}  // namespace lookback::text
