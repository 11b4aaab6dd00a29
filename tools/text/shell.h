// Command lines as text: what is printed can be copied into a shell.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace lookback::text {

// One argument as a word of a POSIX shell: as it is, 'in quotes', or, where it holds bytes that
// cannot be seen or copied (controls, direction marks, what `visible` refuses, invalid UTF-8), on
// one line as $'a\nb\342\200\256'.
std::string shell_word(std::string_view argument,
                       const std::function<bool(char32_t)>& visible = nullptr);

}  // namespace lookback::text
