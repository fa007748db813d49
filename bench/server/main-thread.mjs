// CPU time of the main thread of this process. Linux only.
import { openSync, readSync } from "node:fs";

/** Returns a function that reads the time in milliseconds, or undefined if the system does not report it per thread. */
export function mainThreadCpu() {
  let schedstat;
  try {
    schedstat = openSync("/proc/self/schedstat"); // the first thread is the main thread
  } catch {
    return undefined;
  }
  const bytes = Buffer.alloc(64);
  return () => {
    const length = readSync(schedstat, bytes, 0, bytes.length, 0);
    return Number(bytes.toString("latin1", 0, length).split(" ")[0]) / 1e6;
  };
}
