import { describe, expect, it } from "vitest";
import { storeError } from "./errors.ts";

describe("what SQLite and the file system say", () => {
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
  ])("as %s is %s, with the file, the reason and what to do", (code, expected) => {
    const error = storeError(Object.assign(new Error("because"), { code }), "/home/me/rookery.db");
    expect(error.code).toBe(expected);
    expect(error.message).toMatch(/\/home\/me\/rookery\.db.*: .* \([A-Z_]+: because\)$/);
  });

  it("is kept where it is in our words already", () => {
    const error = storeError(new Error("odd"), "/a");
    expect(storeError(error, "/b")).toBe(error);
  });
});
