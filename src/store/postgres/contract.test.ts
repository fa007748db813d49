import { describe, it } from "vitest";
import { sharedStoreContract, storeContract } from "../contract.ts";
import { hasTestPostgres, testSchemas } from "./fixtures/schemas.ts";
import { openPostgresStore } from "./open.ts";

const schemas = testSchemas();

const IS_SLOW_RUN = process.env["ROOKERY_SLOW"] === "1";
const CASES = storeContract.filter(({ isLarge = false }) => IS_SLOW_RUN || !isLarge);

describe.skipIf(!hasTestPostgres)("the PostgreSQL store", () => {
  it.each(CASES)("$name", async ({ run }) => run(async () => openPostgresStore(await schemas.emptied())));

  it.each(sharedStoreContract)("$name", async ({ run }) =>
    run(async () => {
      const options = await schemas.emptied();
      return () => openPostgresStore(options);
    }),
  );
});
