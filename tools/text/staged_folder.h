// A folder of files that belong together, replaced as a whole.
#pragma once

#include <string>
#include <vector>

#include "tools/text/hold_signals.h"

namespace lookback::text {

// Files are first written to path(), a folder of its own inside `folder`; publish() then moves them
// to their places. Until then `folder` keeps what it had. Afterwards what an earlier publish()
// wrote and this one did not is gone (a list in the folder says what it wrote); what others wrote
// stays: a publish() that would need its place is refused.
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

  // Throws as the constructor would, and publish() because of `index`, creating nothing: lets a
  // command refuse before its long work.
  static void check(const std::string& folder, const std::string& index);

  // Whether an earlier publish() wrote `path`, so that the next one replaces or removes it.
  static bool wrote(const std::string& folder, const std::string& path);

 private:
  HoldSignals hold_;
  std::string folder_;
  std::string path_;
  bool created_ = false;
};

}  // namespace lookback::text
