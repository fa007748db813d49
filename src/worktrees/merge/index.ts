/** Bringing a branch back into another, in the order it was asked for, whole or not at all. */
export { predict, type PredictOptions } from "./predict.ts";
export { merge, wasPublished, type MergeGate, type MergeOptions } from "./merge.ts";
export { inMergeQueue } from "./queue.ts";
export { sweepMerges } from "./scratch.ts";
