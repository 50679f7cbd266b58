#include "execute/job_queue.h"

#include <chrono>
#include <utility>

namespace fastaug {
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

int64_t JobQueue::left() {
  const std::lock_guard lock(mutex_);
  return static_cast<int64_t>(entries_.size());
}

void JobQueue::done(Number number) {
  {
    const std::lock_guard lock(mutex_);
    done_.push_back(number);
  }
  finished_.notify_all();
}

std::optional<JobQueue::Number> JobQueue::take(double seconds) {
  std::unique_lock lock(mutex_);
  const std::chrono::duration<double> patience(seconds);
  if (!finished_.wait_for(lock, patience, [this] { return !done_.empty(); })) return std::nullopt;
  const Number first = done_.front();
  done_.pop_front();
  return first;
}

}  // namespace fastaug
