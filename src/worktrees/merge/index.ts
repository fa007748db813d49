/** Merges branches: one merge at a time, in the order of the requests, each completely or not at all. */
export { readBranches } from "./branches.ts";
export { predictBranchMerge, type PredictOptions } from "./predict.ts";
export { mergeBranch, wasPublished, type MergeGate, type MergeOptions, type MergeRemote } from "./merge.ts";
export { runInMergeQueue } from "./queue.ts";
export { sweepMerges } from "./scratch.ts";
