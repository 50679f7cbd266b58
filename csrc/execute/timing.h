// Keeps account of the passes of a run, and of the time that each takes.
#pragma once

#include <deque>
#include <vector>

#include "execute/execute.h"
#include "execute/stages/stages.h"

namespace fastaug {

class PassLog {
 public:
  // Passes are appended to `passes` by finish(); null means that nobody wants to know.
  explicit PassLog(std::vector<Pass>* passes) : passes_(passes) {}

  bool on() const { return passes_ != nullptr; }

  // The next stage of a chain. Returns the stage through which its rows are to be asked for, so that they are timed.
  // `first` begins a new chain. `describe` makes the Pass, if anybody wants to know.
  template <class Describe>
  Stage* stage(Context& context, Stage* stage, bool first, Describe describe) {
    return on() ? timed(context, stage, describe(), first) : stage;
  }

  // What pulls the rows of the chain, by calling `work`.
  template <class Describe, class Work>
  void sink(Describe describe, Work work) {
    if (!on()) return work();
    const double start = now();
    work();
    const double seconds = now() - start;
    records_.push_back({describe(), seconds, chain_});
    chain_ = -1;
  }

  void finish();

 private:
  struct Record {
    Pass pass;
    double seconds;  // with those of the passes that it pulls rows from
    int input;       // the record of the pass before it in its chain; -1 for none
  };
  class TimedStage;

  static double now();
  Stage* timed(Context& context, Stage* stage, Pass pass, bool first);

  std::vector<Pass>* passes_;
  std::deque<Record> records_;  // its elements never move
  int chain_ = -1;
};

}  // namespace fastaug
