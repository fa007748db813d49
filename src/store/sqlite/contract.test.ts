import { describe, it } from "vitest";
import { sharedStoreContract, storeContract } from "../contract.ts";
import { databasePaths } from "./fixtures/folder.ts";
import { openSqliteStore } from "./open.ts";

const newPath = databasePaths();

describe("the SQLite store", () => {
  it.each(storeContract)("$name", async ({ run }) => run(() => openSqliteStore({ path: newPath() })));

  it.each(sharedStoreContract)("$name", async ({ run }) =>
    run(async () => {
      const path = newPath();
      return () => openSqliteStore({ path });
    }),
  );
});
