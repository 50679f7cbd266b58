#include "execute/timing.h"

#include <chrono>

namespace fastaug {

class PassLog::TimedStage final : public Stage {
 public:
  TimedStage(Stage* input, double* seconds) : input_(input), seconds_(seconds) {
    region = input->region;
    channels = input->channels;
    in_order = input->in_order;
  }

  void row(int y, const Planes& dst) override {
    const double start = now();
    input_->row(y, dst);
    *seconds_ += now() - start;
  }

 private:
  Stage* input_;
  double* seconds_;
};

double PassLog::now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Stage* PassLog::timed(Context& context, Stage* stage, Pass pass, bool first) {
  records_.push_back({std::move(pass), 0.0, first ? -1 : chain_});
  chain_ = static_cast<int>(records_.size()) - 1;
  return context.arena.make<TimedStage>(stage, &records_.back().seconds);
}

void PassLog::finish() {
  if (!on()) return;
  for (Record& record : records_) {
    record.pass.seconds = record.seconds;
    if (record.input >= 0) record.pass.seconds -= records_[static_cast<size_t>(record.input)].seconds;
    passes_->push_back(std::move(record.pass));
  }
  records_.clear();
}

}  // namespace fastaug
