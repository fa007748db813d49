/** Bringing a branch back into another, in the order it was asked for, whole or not at all. */
export { predictBranchMerge, type PredictOptions } from "./predict.ts";
export { mergeBranch, wasPublished, type MergeGate, type MergeOptions } from "./merge.ts";
export { runInMergeQueue } from "./queue.ts";
export { sweepMerges } from "./scratch.ts";
