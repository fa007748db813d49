import { vi } from "vitest";

/**
 * `vi.waitFor` times out after one second by default, which a busy machine needs to start one process. A longer default
 * does not slow down passing tests. A test that sets its own timeout keeps it.
 */
const PATIENCE_MS = 20_000;

const { waitFor, waitUntil } = vi;
vi.waitFor = (callback, options) => waitFor(callback, patient(options));
vi.waitUntil = (callback, options) => waitUntil(callback, patient(options));

function patient(options = {}) {
  return typeof options === "number" ? options : { timeout: PATIENCE_MS, ...options };
}
