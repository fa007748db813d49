/** The contract of stores on the other versions of PostgreSQL that this machine has, as packages of Debian install them. */
import { existsSync } from "node:fs";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startPostgresCluster, type PostgresCluster } from "../scripts/postgres-cluster.mjs";
import { sharedStoreContract, storeContract } from "../src/store/contract.ts";
import { inspectPostgresStore, openPostgresStore } from "../src/store/postgres/open.ts";

/** The oldest version that is supported, and those up to the one of the other tests. */
const VERSIONS = [15, 16, 17];

describe.each(VERSIONS)("PostgreSQL %i", (version) => {
  const binaries = `/usr/lib/postgresql/${version}`;
  const isInstalled = existsSync(`${binaries}/bin/initdb`);
  let cluster: PostgresCluster;
  let count = 0;

  if (!isInstalled) {
    it.skip(`runs the contract (needs the package postgresql-${version})`, () => undefined);
    return;
  }
  beforeAll(async () => {
    cluster = await startPostgresCluster({ binaries });
  });
  afterAll(() => cluster.stop());

  const nextOptions = () => ({ url: cluster.url, schema: `contract_${(count += 1)}` });
  const drop = async (schema: string): Promise<void> => {
    const client = new pg.Client({ connectionString: cluster.url });
    await client.connect();
    await client.query(`drop schema "${schema}" cascade`);
    await client.end();
  };

  it("is the version that is tested", async () => {
    expect((await inspectPostgresStore(nextOptions())).serverVersion).toMatch(new RegExp(`^${version}\\.`));
  });

  it.each(storeContract)("$name", async ({ run }) => {
    const options = nextOptions();
    await run(() => openPostgresStore(options));
    await drop(options.schema);
  });

  it.each(sharedStoreContract)("$name", async ({ run }) => {
    const options = nextOptions();
    await run(() => Promise.resolve(() => openPostgresStore(options)));
    await drop(options.schema);
  });
});
