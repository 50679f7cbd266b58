#include "execute/job_queue.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace fastaug {
namespace {

std::chrono::duration<double> for_seconds(double seconds) { return std::chrono::duration<double>(seconds); }

}  // namespace

JobQueue::Number JobQueue::push(std::optional<Job> job, const ExecuteOptions& options) {
  Number number;
  {
    const std::lock_guard lock(mutex_);
    number = next_++;
    entries_.push_back({number, std::move(job), options});
  }
  pushed_.notify_one();
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
  }
  close();
}

std::optional<JobQueue::Number> JobQueue::work(bool wait, int64_t limit) {
  std::unique_lock lock(mutex_);
  for (int64_t count = 0; count < limit; ++count) {
    if (wait) pushed_.wait(lock, [this] { return closed_ || !entries_.empty(); });
    if (entries_.empty()) return std::nullopt;
    const Entry entry = std::move(entries_.front());
    entries_.pop_front();
    if (!entry.job) return entry.number;
    lock.unlock();
    try {
      execute(*entry.job, entry.options);
    } catch (...) {
      return entry.number;
    }
    done(entry.number);
    lock.lock();
  }
  return std::nullopt;
}

void JobQueue::done(Number number) {
  {
    const std::lock_guard lock(mutex_);
    done_.push_back(number);
  }
  finished_.notify_all();
}

bool JobQueue::take(Number number, double seconds) {
  std::unique_lock lock(mutex_);
  auto found = done_.end();
  const bool there = finished_.wait_for(lock, for_seconds(seconds), [&] {
    found = std::ranges::find(done_, number);
    return found != done_.end();
  });
  if (there) done_.erase(found);
  return there;
}

std::optional<JobQueue::Number> JobQueue::take_any(double seconds) {
  std::unique_lock lock(mutex_);
  if (!finished_.wait_for(lock, for_seconds(seconds), [this] { return !done_.empty(); })) return std::nullopt;
  const Number first = done_.front();
  done_.erase(done_.begin());
  return first;
}

}  // namespace fastaug
