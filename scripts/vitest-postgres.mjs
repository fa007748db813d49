// Gives the test files of a run one PostgreSQL server, which starts when the first of them asks for it.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { postgresBinaries, startPostgresCluster } from "./postgres-cluster.mjs";

/**
 * Listens on a socket that answers with the URL of the server, and returns a function that ends both. Test files find the
 * socket in ROOKERY_TEST_POSTGRES_STARTER. Starts nothing if ROOKERY_TEST_POSTGRES has the URL of another server, or if
 * there is no PostgreSQL for this platform.
 */
export async function offerPostgres() {
  const given = process.env.ROOKERY_TEST_POSTGRES;
  if (given !== undefined) return prepareSchemas(given);
  if (postgresBinaries() === undefined) return async () => undefined;
  const folder = await mkdtemp(join(tmpdir(), "rookery-pg-starter-"));
  const path = join(folder, "socket");
  let cluster;
  const starter = createServer((socket) => {
    cluster ??= startPostgresCluster();
    socket.on("error", () => undefined);
    cluster.then(
      ({ url }) => socket.end(url),
      (error) => socket.end(String(error)),
    );
  });
  starter.listen(path);
  await once(starter, "listening");
  process.env.ROOKERY_TEST_POSTGRES_STARTER = path;
  return async () => {
    starter.close();
    const started = await cluster?.catch(() => undefined);
    await started?.stop();
    await rm(folder, { recursive: true, force: true });
  };
}

/** Gives the schemas of `test/support/postgres` a prefix, and returns a function that drops them. */
function prepareSchemas(url) {
  const prefix = `test_${randomBytes(4).toString("hex")}_`;
  process.env.ROOKERY_TEST_SCHEMAS = prefix;
  return async () => {
    const { default: pg } = await import("pg");
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query("select nspname from pg_namespace where starts_with(nspname, $1)", [prefix]);
    for (const { nspname } of rows) await client.query(`drop schema "${nspname}" cascade`);
    await client.end();
  };
}
