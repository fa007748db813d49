import { describe, expect, it } from "vitest";
import { toStoreError } from "./errors.ts";

describe("errors of SQLite and the file system", () => {
  it.each([
    ["SQLITE_BUSY", "store_locked"],
    ["SQLITE_BUSY_RECOVERY", "store_locked"],
    ["SQLITE_LOCKED", "store_locked"],
    ["SQLITE_READONLY", "store_readonly"],
    ["EACCES", "store_readonly"],
    ["EROFS", "store_readonly"],
    ["SQLITE_FULL", "store_full"],
    ["ENOSPC", "store_full"],
    ["EDQUOT", "store_full"],
    ["SQLITE_CORRUPT", "store_corrupt"],
    ["SQLITE_CORRUPT_INDEX", "store_corrupt"],
    ["SQLITE_NOTADB", "store_corrupt"],
    ["SQLITE_CANTOPEN", "store_unavailable"],
    ["ENOTDIR", "store_unavailable"],
    ["SQLITE_IOERR_FSYNC", "store_unavailable"],
    ["SQLITE_SOMETHING_NEW", "store_unavailable"],
  ])("maps %s to %s with the file, the reason and a fix", (code, expected) => {
    const error = toStoreError(Object.assign(new Error("because"), { code }), "/home/me/rookery.db");
    expect(error.code).toBe(expected);
    expect(error.message).toMatch(/\/home\/me\/rookery\.db.*: .* \([A-Z_]+: because\)$/);
  });

  it("returns a RookeryError unchanged", () => {
    const error = toStoreError(new Error("odd"), "/a");
    expect(toStoreError(error, "/b")).toBe(error);
  });
});
