/** Measures retained memory after garbage collection. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Returns bytes, including buffers outside the heap. */
export function heldMemory(): number {
  collect();
  collect(); // buffers of the first round are freed by the second
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
