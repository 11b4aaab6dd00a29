// A folder of files that belong together, replaced as a whole.
#pragma once

#include <string>
#include <vector>

#include "tools/text/hold_signals.h"

namespace lookback::text {

// Files are first written to path(), a folder of its own inside `folder`; publish() then moves them
// to their places. Until then `folder` keeps what it had. Afterwards what an earlier publish()
// wrote and this one did not is gone; files that others wrote stay, unless they have the same name.
//
// Signals wait (HoldSignals). If one came before publish(), nothing is published.
class StagedFolder {
 public:
  // Creates `folder` if it is missing, in an existing one. Throws std::runtime_error.
  explicit StagedFolder(const std::string& folder);
  ~StagedFolder();  // removes what was not published, and `folder` if it was created in vain
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;

  const std::string& path() const { return path_; }

  // `index`, the file that speaks of the others, goes first and comes last: it never stands beside
  // files of another run. Throws std::runtime_error, before anything is replaced if it can be
  // known.
  void publish(const std::string& index);

  // Throws as the constructor would, creating nothing: lets a command refuse before its long work.
  static void check(const std::string& folder, const std::string& index);

 private:
  HoldSignals hold_;
  std::string folder_;
  std::string path_;
  bool created_ = false;
};

}  // namespace lookback::text
