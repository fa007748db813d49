import { describe, it } from "vitest";
import { sharedStoreContract, storeContract } from "../contract.ts";
import { databasePaths } from "./fixtures/folder.ts";
import { openSqliteStore } from "./open.ts";

const newPath = databasePaths();

const IS_SLOW_RUN = process.env["ROOKERY_SLOW"] === "1";
const CASES = storeContract.filter(({ isLarge = false }) => IS_SLOW_RUN || !isLarge);

describe("the SQLite store", () => {
  it.each(CASES)("$name", async ({ run }) => run(() => openSqliteStore({ path: newPath() })));

  it.each(sharedStoreContract)("$name", async ({ run }) =>
    run(async () => {
      const path = newPath();
      return () => openSqliteStore({ path });
    }),
  );
});
