import { describe, it } from "vitest";
import { sharedStoreContract, storeContract } from "../contract.ts";
import { hasTestPostgres, testSchemas } from "./fixtures/schemas.ts";
import { openPostgresStore } from "./open.ts";

const schemas = testSchemas();

describe.skipIf(!hasTestPostgres)("the PostgreSQL store", () => {
  it.each(storeContract)("$name", async ({ run }) => run(async () => openPostgresStore(await schemas.emptied())));

  it.each(sharedStoreContract)("$name", async ({ run }) =>
    run(async () => {
      const options = await schemas.emptied();
      return () => openPostgresStore(options);
    }),
  );
});
