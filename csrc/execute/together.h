// Several jobs in one call: those whose image is made by the same source, such as views of one encoded image, have it
// made once.
#pragma once

#include <span>

#include "execute/execute.h"

namespace fastaug {

// As execute() of one job after the other; jobs of one source of pixels one after the other, where the first of them
// is. All of these are planned first; then the source makes, in one go, the smallest rectangle that holds what any of
// them reads, and every plan runs on that. So what one of them reads and cannot be made fails all of them.
//
// `reports` is empty, or has one for each job: the time that the pixels took is in the first one of their source.
void execute_all(std::span<const Job> jobs, const ExecuteOptions& options = {}, std::span<Report> reports = {});

}  // namespace fastaug
