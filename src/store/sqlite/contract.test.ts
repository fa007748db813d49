import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, it } from "vitest";
import { storeContract } from "../contract.ts";
import { openSqliteStore } from "./open.ts";

const folder = mkdtempSync(join(tmpdir(), "rookery-store-"));
let stores = 0;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the SQLite store", () => {
  it.each(storeContract)("$name", async ({ run }) => {
    await run(() => openSqliteStore({ path: join(folder, `${(stores += 1)}`, "rookery.db") }));
  });
});
