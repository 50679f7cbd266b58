#include "execute/job_queue.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/clock.h"
#include "execute/together.h"

namespace fastaug {
namespace {

// A source that adds up the seconds that its pixels take.
class TimedSource final : public PixelSource {
 public:
  TimedSource(PixelSource& source, double& seconds) : source_(source), seconds_(seconds) {}

  View layout() const override { return source_.layout(); }
  Region made(Region wanted) const override { return source_.made(wanted); }
  int64_t bytes() const override { return source_.bytes(); }
  const char* name() const override { return source_.name(); }
  const uint8_t* const* rows() const override { return source_.rows(); }

  View make(Region wanted, Arena& arena, int scale) override {
    const double start = now();
    const View view = source_.make(wanted, arena, scale);
    seconds_ += now() - start;
    return view;
  }

  void make_all(const Target& target, Arena& arena) override {
    const double start = now();
    source_.make_all(target, arena);
    seconds_ += now() - start;
  }

 private:
  PixelSource& source_;
  double& seconds_;
};

}  // namespace

void execute_timed(std::vector<Job> jobs, const ExecuteOptions& options, JobQueue::Seconds& seconds) {
  const double start = now();
  // One for each source, since jobs of the same one share what it makes. Their places do not change.
  std::deque<std::pair<PixelSource*, TimedSource>> timed;
  for (Job& job : jobs) {
    PixelSource* const pixels = job.source.pixels;
    if (pixels == nullptr) continue;
    auto known = std::find_if(timed.begin(), timed.end(), [=](const auto& one) { return one.first == pixels; });
    if (known == timed.end()) {
      timed.emplace_back(std::piecewise_construct, std::forward_as_tuple(pixels),
                         std::forward_as_tuple(*pixels, seconds.decoding));
      known = timed.end() - 1;
    }
    job.source.pixels = &known->second;
  }
  if (jobs.size() == 1) {
    execute(jobs[0], options);
  } else {
    execute_all(jobs, options);
  }
  seconds.jobs += now() - start;
}

JobQueue::Seconds& JobQueue::Seconds::operator+=(const Seconds& other) {
  reading += other.reading;
  decoding += other.decoding;
  jobs += other.jobs;
  return *this;
}

JobQueue::Number JobQueue::insert(Entry entry, bool urgent) {
  const std::lock_guard lock(mutex_);
  const Number number = entry.number = next_++;
  left_ += entry.several ? static_cast<int64_t>(entry.several->count) : 1;
  const auto place = urgent ? entries_.begin() + urgent_++ : entries_.end();
  entries_.insert(place, std::move(entry));
  return number;
}

JobQueue::Number JobQueue::push(std::vector<Job> jobs, const ExecuteOptions& options, bool urgent) {
  const Number number = insert({0, std::move(jobs), options}, urgent);
  pushed_.notify_one();
  return number;
}

JobQueue::Number JobQueue::push_all(size_t count, Work work, bool urgent) {
  const Number number = insert({0, {}, {}, std::make_shared<Several>(std::move(work), count)}, urgent);
  pushed_.notify_all();
  return number;
}

void JobQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  pushed_.notify_all();
}

void JobQueue::cancel() {
  {
    const std::lock_guard lock(mutex_);
    entries_.clear();
    urgent_ = left_ = 0;
  }
  close();
}

std::optional<JobQueue::Number> JobQueue::work(bool wait, int64_t limit, double seconds) {
  std::unique_lock lock(mutex_);
  const double end = wait ? 0.0 : now() + seconds;
  for (int64_t count = 0; count < limit;) {
    if (wait) pushed_.wait(lock, [this] { return closed_ || !entries_.empty(); });
    if (entries_.empty()) return std::nullopt;
    if (const auto several = entries_.front().several) {
      const Number number = entries_.front().number;
      if (work_on(*several, number, lock)) return number;
      if (!wait && (several->next >= several->count || now() >= end)) ++count;
      continue;
    }
    ++count;
    Entry entry = std::move(entries_.front());
    entries_.pop_front();
    --left_;
    if (urgent_ > 0) --urgent_;
    if (entry.jobs.empty()) return entry.number;
    lock.unlock();
    Seconds taken;
    try {
      execute_timed(std::move(entry.jobs), entry.options, taken);
    } catch (...) {
      return entry.number;
    }
    lock.lock();
    seconds_ += taken;
    finish(entry.number, lock);
  }
  return std::nullopt;
}

bool JobQueue::work_on(Several& several, Number number, std::unique_lock<std::mutex>& lock) {
  const size_t which = several.next++;
  --left_;
  if (several.next == several.count) {
    entries_.pop_front();
    if (urgent_ > 0) --urgent_;
  }
  lock.unlock();
  Seconds seconds;
  const bool done = several.work(which, seconds);
  lock.lock();
  seconds_ += seconds;
  several.failed = several.failed || !done;
  if (--several.left > 0) return false;
  if (several.failed) return true;
  finish(number, lock);
  return false;
}

int64_t JobQueue::left() {
  const std::lock_guard lock(mutex_);
  return left_;
}

void JobQueue::done(Number number) {
  std::unique_lock lock(mutex_);
  finish(number, lock);
}

void JobQueue::finish(Number number, std::unique_lock<std::mutex>& lock) {
  done_.push_back(number);
  if (done_.size() < least_) return;
  lock.unlock();
  finished_.notify_all();
  lock.lock();
}

JobQueue::Seconds JobQueue::seconds() {
  const std::lock_guard lock(mutex_);
  return seconds_;
}

std::optional<JobQueue::Number> JobQueue::take(double seconds, size_t least) {
  std::unique_lock lock(mutex_);
  least_ = least;
  // Even a wait of zero seconds is a system call, which a mere look at the queue must not make.
  if (seconds > 0.0) {
    finished_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return done_.size() >= least; });
  }
  if (done_.empty()) return std::nullopt;
  const Number first = done_.front();
  done_.pop_front();
  return first;
}

}  // namespace fastaug
