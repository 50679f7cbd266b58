// Jobs for several threads, each of which takes the next one until none is left. The threads are the caller's: a queue
// starts none, so there is nothing to guard at a fork or at exit.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "execute/execute.h"

namespace fastaug {

class JobQueue {
 public:
  // Entries have numbers, counted from 0 in the order in which they are pushed.
  using Number = int64_t;

  // The time of jobs and of works.
  struct Seconds {
    double reading = 0.0;
    double decoding = 0.0;
    double jobs = 0.0;  // decoding as well

    Seconds& operator+=(const Seconds& other);
  };

  // An entry's jobs are run as by execute_all(), by one thread. Without jobs it is an errand: something that the thread
  // which meets it does by itself. The memory of jobs must last until they are done, or dropped by cancel(). An entry
  // that is `urgent` comes before all that are not.
  Number push(std::vector<Job> jobs, const ExecuteOptions& options = {}, bool urgent = false);

  // Works of one entry, of which several threads do one after the other. Each is called with its number, from 0 on, and
  // adds up its time; false if it failed. It must not throw. The entry is done with the last of them, or else an errand
  // for the thread that does the last one.
  using Work = std::function<bool(size_t number, Seconds& seconds)>;
  Number push_all(size_t count, Work work, bool urgent = false);

  // No more will be pushed: threads in work() come back once nothing is left.
  void close();

  // Like close(), but drops jobs that have not begun. Jobs that run go on to their end.
  void cancel();

  // Does entries one after the other, at most `limit` of them, and returns the number of the first errand that it
  // meets: of an entry without jobs, or of one of which a job failed. The caller does it and calls done(). Nothing when
  // there is no more to do: where `wait`, not before the queue is closed; else as soon as it is empty. Works of one
  // entry count as one of the `limit` for so many seconds.
  std::optional<Number> work(bool wait, int64_t limit, double seconds = 0.0);

  // The number of entries, and of works of one, that have not begun.
  int64_t left();

  // Says that an errand has been done.
  void done(Number number);

  // The entry that was done first of all that have not been taken yet. Waits until there are so many, for at most so
  // many seconds: a thread that needs them all is not woken by each. By one thread at a time.
  std::optional<Number> take(double seconds, size_t least = 1);

  // The time so far, added up over all threads.
  Seconds seconds();

 private:
  // Several works in progress.
  struct Several {
    Work work;
    size_t count;
    size_t next = 0, left = count;
    bool failed = false;
  };
  struct Entry {
    Number number;
    std::vector<Job> jobs{};
    ExecuteOptions options{};
    std::shared_ptr<Several> several{};
  };

  Number insert(Entry entry, bool urgent);
  // Does one of the works of the first entry, with the lock given up meanwhile. True if the entry becomes an errand.
  bool work_on(Several& several, Number number, std::unique_lock<std::mutex>& lock);
  void finish(Number number, std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable pushed_, finished_;
  std::deque<Entry> entries_;
  std::deque<Entry>::difference_type urgent_ = 0;  // how many of the first ones are
  std::deque<Number> done_;                        // in that order, and not taken yet
  Number next_ = 0;
  int64_t left_ = 0;
  Seconds seconds_;
  size_t least_ = 1;  // for how many take() waits
  bool closed_ = false;
};

// Runs jobs as execute_all() does, and adds their time to `seconds`.
void execute_timed(std::vector<Job> jobs, const ExecuteOptions& options, JobQueue::Seconds& seconds);

}  // namespace fastaug
