#pragma once

#include "executor/collectives/member.h"
#include "executor/data/problem.h"
#include "executor/train/train_error.h"
#include "executor/train/train_outcome.h"

namespace slipway {

/// Runs a job's work. What the modules below refuse gets the failure code of a job here, not where
/// files are read: data_error; spec_error for sizes that the spec asks for; out_of_memory;
/// member_lost.
/// errors  TrainError; any other Error as it came
template <class Work>
TrainOutcome with_failure_reasons(const Work& work) {
    try {
        return work();
    } catch (const DataError& problem) {
        throw TrainError("data_error", problem.what());
    } catch (const TrainError&) {
        throw;
    } catch (const MemberLost& lost) {
        throw TrainError("member_lost", lost.what());
    } catch (const Error& error) {
        if (error.code() == ErrorCode::exhausted) throw TrainError("out_of_memory", error.what());
        if (error.code() == ErrorCode::invalid_argument)
            throw TrainError("spec_error", error.what());
        throw;
    }
}

}    // namespace slipway
